#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cli/arrays.hpp"
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
/// float32, each row returned as soon as it arrives. Rows that are not as expected, no rows at all
/// and values that are not numbers are input errors. `text` says what columns of text and numbers
/// of a stream are; rows come laid out as inside.
std::unique_ptr<RowSource> open_rows(const std::string& place, const ExpectedRows& expected,
                                     Numbers text);

/// How many rows of measurements and signals together make a chunk: a file may be larger than
/// memory, its chunks are not.
std::size_t rows_per_chunk(std::size_t measurements, std::size_t signal_entries);

}  // namespace pibinn::cli
