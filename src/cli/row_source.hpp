#pragma once

#include <memory>
#include <string>

#include "pibinn/matrix.hpp"

namespace pibinn::cli {

/// Rows of measurements, a few at a time.
class RowSource {
public:
    virtual ~RowSource() = default;
    /// How many there are in all; 0 where nobody knows before the end.
    virtual std::size_t rows() const = 0;
    /// The next rows: at least one and at most `most`, those that are there; none at the end.
    virtual Batch read(std::size_t most) = 0;
};

/// The rows of an array file, or those of standard input where `place` is "-": raw little-endian
/// float32, `cols` a row, each given on as soon as it is there. What is not `cols` wide, holds no
/// row or a value that is no number, is an input error.
std::unique_ptr<RowSource> open_rows(const std::string& place, std::size_t cols);

}  // namespace pibinn::cli
