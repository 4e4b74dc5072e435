// room: data
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

/// The array of a .npy file as float32: 2-D as it is, 1-D as one row, an empty 1-D array as an
/// empty batch. Booleans, integers and floats of either byte order, in C or Fortran order, are
/// converted; complex numbers, text and objects are errors, and so is a value that is NaN,
/// infinite or beyond float32. A batch of 0 rows is read; `require_batch` refuses it.
Batch read_npy(const std::filesystem::path& path);

/// float32, or complex64 of interleaved rows; little-endian, C order. The file appears whole or not
/// at all.
void write_npy(const std::filesystem::path& path, ConstBatchView values,
               Numbers numbers = Numbers::real);

/// A 1-D array of int64, which numpy takes as an index.
void write_npy_indices(const std::filesystem::path& path, std::span<const std::uint32_t> values);

class AtomicFile;

/// The same, a few rows at a time: the file appears when all rows are there and commit() is called.
class NpyWriter {
public:
    /// Without a number of rows the header is completed by commit(), so the file cannot be a pipe.
    /// A complex number has two of the columns.
    NpyWriter(const std::filesystem::path& path, std::optional<std::size_t> rows, std::size_t cols,
              Numbers numbers = Numbers::real);
    ~NpyWriter();

    void write(ConstBatchView rows);
    void commit();

private:
    std::string header(std::size_t rows) const;

    std::unique_ptr<AtomicFile> file_;
    std::optional<std::size_t> announced_;
    std::size_t rows_ = 0;  ///< written
    std::size_t cols_;
    Numbers numbers_;
};

/// Refuses a batch of no rows and one whose rows are not `cols` long. The error says `noun` for
/// what a row holds ("measurements") and `path` for the origin of the batch.
void require_batch(ConstBatchView batch, std::size_t cols, std::string_view noun,
                   const std::filesystem::path& path);
/// The same of a shape alone.
void require_shape(std::size_t rows, std::size_t cols, std::size_t expected_cols,
                   std::string_view noun, const std::filesystem::path& path);

}  // namespace pibinn
