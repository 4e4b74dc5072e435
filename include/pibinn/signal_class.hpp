// room: spectral
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pibinn/model.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// The signals that a guarantee speaks of: those on some supports, or on all supports of one size,
/// no longer than `norm`, measured with noise no longer than `noise`. On a structure with blocks
/// size, norm and noise are those of the part of a signal in one block.
struct SignalClass {
    std::vector<std::vector<std::uint32_t>> supports = {};  ///< entries, from 0 on
    std::size_t size = 0;  ///< all supports of this many entries; 0: those above
    double norm = 0;       ///< sup ||x||; 0: sqrt(s) + 3 for s entries
    double noise = 0;      ///< sup ||y - A x||

    bool operator==(const SignalClass&) const = default;
};

/// Refuses a class without signals, or one that no signal of the structure is in.
void require_class(const SignalClass& signals, const Structure& structure);

/// The most entries that the measurements of every block can tell apart.
std::size_t largest_size(const Structure& structure);

/// The length below which signals are meant where nobody said one: of signals with N(0, 1) on s
/// entries one in a hundred at most is longer.
double usual_norm(std::size_t s);

/// "at most 2 nonzeros", "nonzeros at entries 1, 5, 9 alone"
std::string in_words(const SignalClass& signals);

/// Keeps the class that a model was trained for in its metadata, and finds it there.
void keep_class(Model& model, const SignalClass& signals);
std::optional<SignalClass> kept_class(const Model& model);

}  // namespace pibinn
