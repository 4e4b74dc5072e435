#pragma once

#include <memory>
#include <string>

#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn::cli {

/// Where recovered rows go, a few at a time.
class RowSink {
public:
    virtual ~RowSink() = default;
    virtual void write(ConstBatchView rows) = 0;
    /// All rows are there. A file that is not committed never appears.
    virtual void commit() = 0;
};

/// An array file of `rows` rows (0: any number), or raw little-endian float32 on standard output
/// where `out` is "-", with every row written at once. Rows have `cols` numbers, laid out so; of
/// complex ones real part and imaginary part are written in turn.
std::unique_ptr<RowSink> make_rows(const std::string& out, std::size_t rows, std::size_t cols,
                                   const RowLayout& layout);

}  // namespace pibinn::cli
