// room: data
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// The array that `place` names, as a user writes it: "x.npy", "x.csv", "x.npz" and "x.mat" (of one
/// array) or "x.npz:name" and "x.mat:name". Under the rules of `read_npy`, whatever the format.
Batch read_array(const std::string& place);

/// The file of such a place, without the name of an array in it.
std::string array_file(const std::string& place);

/// Whether a word of a configuration names an array file rather than something else.
bool names_array(std::string_view word);

/// The rows of an array, a few at a time. Those of a .npy file are read from the disk when they are
/// asked for, so that a file may be larger than memory; other formats are held whole.
class ArrayRows {
public:
    explicit ArrayRows(const std::string& place);
    ~ArrayRows();
    ArrayRows(ArrayRows&&) noexcept;
    ArrayRows& operator=(ArrayRows&&) noexcept;

    std::size_t rows() const;
    std::size_t cols() const;
    /// Rows begin .. begin + count - 1; a value that is no number is an error here.
    Batch read(std::size_t begin, std::size_t count);

private:
    struct File;
    std::unique_ptr<File> file_;  ///< of a .npy file
    Batch whole_;                 ///< of the others
};

}  // namespace pibinn
