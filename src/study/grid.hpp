#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pibinn::study {

/// The section [grid] of a file: lists of values per key of a configuration.
struct Grid {
    struct Axis {
        std::string key;                  ///< dotted
        std::vector<std::string> values;  ///< as TOML
        std::vector<std::string> words;   ///< the same as people write them
    };

    std::string file;
    std::vector<Axis> axes;

    /// How many combinations there are, at most 10^18.
    std::size_t size() const;
    /// The values of combination i, axis by axis; the last axis goes round first.
    std::vector<std::string> values(std::size_t i) const;
    /// "model.layers=10", ... of combination i.
    std::vector<std::string> settings(std::size_t i) const;
    /// A name for its folder.
    std::string folder(std::size_t i) const;
};

/// Reads the section [grid] of a file; the rest of it is a configuration. Refuses a key that no
/// configuration has, what is no list, and a list that is empty or names a value twice.
Grid read_grid(const std::string& file);

}  // namespace pibinn::study
