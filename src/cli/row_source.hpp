#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "pibinn/matrix.hpp"

namespace pibinn::cli {

/// Rows of measurements, a few at a time.
class RowSource {
public:
    virtual ~RowSource() = default;
    /// How many there are in all; 0 where that is not known before the end.
    virtual std::size_t rows() const = 0;
    /// The next rows that are available: at least one and at most `most`; none at the end.
    virtual Batch read(std::size_t most) = 0;
};

/// The rows of an array file, or those of standard input where `place` is "-": raw little-endian
/// float32, `cols` per row, each returned as soon as it arrives. Rows of another width, no rows at
/// all and values that are not numbers are input errors.
std::unique_ptr<RowSource> open_rows(const std::string& place, std::size_t cols);

/// How many rows of measurements and signals together make a chunk: a file may be larger than
/// memory, its chunks are not.
std::size_t rows_per_chunk(std::size_t measurements, std::size_t signal_entries);

}  // namespace pibinn::cli
