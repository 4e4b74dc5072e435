// room: data
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/sparse_matrix.hpp"
#include "pibinn/user_array.hpp"

namespace pibinn {

/// The array that `place` names, as a user writes it: "x.npy", "x.csv", "x.npz" and "x.mat" (of one
/// array) or "x.npz:name" and "x.mat:name". Under the rules of `read_npy`, whatever the format. A
/// sparse matrix (MATLAB's, or of scipy.sparse.save_npz) is read in full. Complex numbers are an
/// input error.
Batch read_array(const std::string& place);

/// The same with all digits of the file: numbers that float32 cannot hold (float64, and integers of
/// 32 bits and more) come as float64, in twice the memory. A value beyond float32 is an error here
/// too. Complex numbers are read as such; where `text` is complex, every two columns of a .csv file
/// are one, real part and imaginary part.
UserArray read_user_array(const std::string& place, Numbers text);
/// The same where complex numbers are an input error.
UserArray read_real_array(const std::string& place);

/// The same where the file holds a sparse matrix; nothing where it holds an array in full.
std::optional<SparseMatrix> read_sparse_array(const std::string& place);

/// Writes float32, or complex64 of interleaved rows, in the format that the name of the file says;
/// .csv has two columns per complex number. Without a name of its own an array
/// in a .mat or .npz file gets that of the file. The file appears whole or not at all; one that
/// is there is replaced.
void write_array(const std::string& place, ConstBatchView values, Numbers numbers = Numbers::real);

/// The file of such a place, without the name of an array in it.
std::string array_file(const std::string& place);

/// Whether a word of a configuration names an array file rather than something else.
bool names_array(std::string_view word);

/// The suffixes of the formats that are read, such as ".npy".
std::vector<std::string_view> array_suffixes();
/// The suffixes of those that are written too.
std::vector<std::string_view> written_array_suffixes();

/// Refuses a place that `write_array` cannot write: another suffix, or a name that the format does
/// not allow. A device or a pipe may have any name, and gets a .npy array.
void require_writable_array(const std::string& place);

class RowReader;
class RowWriter;

/// The rows of an array, a few at a time. Those of a .npy file are read from the disk when they are
/// asked for, so that a file may be larger than memory; other formats are held whole.
class ArrayRows {
public:
    /// `text` as for read_user_array.
    explicit ArrayRows(const std::string& place, Numbers text = Numbers::real);
    ~ArrayRows();
    ArrayRows(ArrayRows&&) noexcept;
    ArrayRows& operator=(ArrayRows&&) noexcept;

    std::size_t rows() const;
    std::size_t cols() const;  ///< two per complex number: real part, imaginary part
    Numbers numbers() const;
    /// Rows begin .. begin + count - 1; a value that is no number is an error here.
    Batch read(std::size_t begin, std::size_t count);

private:
    std::unique_ptr<RowReader> reader_;
};

/// `write_array` a few rows at a time: the file appears when commit() is called. Rows of .npy and
/// .csv files go to the disk at once; the other formats hold them until then.
class ArrayWriter {
public:
    /// Rows have `cols` columns, two per complex number. `rows` announces how many will come; a
    /// .npy file in a pipe needs it.
    ArrayWriter(const std::string& place, std::size_t cols,
                std::optional<std::size_t> rows = std::nullopt, Numbers numbers = Numbers::real);
    ~ArrayWriter();
    ArrayWriter(ArrayWriter&&) noexcept;
    ArrayWriter& operator=(ArrayWriter&&) noexcept;

    void write(ConstBatchView rows);
    void commit();

private:
    std::unique_ptr<RowWriter> writer_;
};

}  // namespace pibinn
