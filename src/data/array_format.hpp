#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/sparse_matrix.hpp"
#include "pibinn/user_array.hpp"

// Every format of arrays, in the order in which users read of them. A new one is a file in
// data/formats/ that defines NAME_format, and its name here.
#define PIBINN_ARRAY_FORMATS(X) X(npy) X(npz) X(mat) X(csv)

namespace pibinn {

/// As which numbers an array is read: float32, or float64 where the file holds more digits.
enum class Digits { float32, all };

/// The rows of an array, read a few at a time.
class RowReader {
public:
    virtual ~RowReader() = default;
    virtual std::size_t rows() const = 0;
    virtual std::size_t cols() const = 0;  ///< two per complex number
    virtual Numbers numbers() const = 0;
    /// Rows begin .. begin + count - 1, which are there.
    virtual Batch read(std::size_t begin, std::size_t count) = 0;
};

/// An array file that is written a few rows at a time. Without commit() it does not appear.
class RowWriter {
public:
    virtual ~RowWriter() = default;
    virtual void write(ConstBatchView rows) = 0;
    virtual void commit() = 0;
};

/// An array to be written.
struct NewArray {
    std::string file;
    std::string name;                                ///< in the file; empty for the format's choice
    std::size_t cols = 0;                            ///< two per complex number
    std::optional<std::size_t> rows = std::nullopt;  ///< where they are known before the end
    Numbers numbers = Numbers::real;

    bool complex() const { return numbers == Numbers::complex; }
};

/// What is particular to one format. Entries that are null say that it cannot do that.
struct ArrayFormat {
    std::string_view suffix;
    bool named = false;  ///< a file holds several arrays: "x.npz:name"
    bool text = false;   ///< columns of numbers: whether pairs of them are complex is not told
    /// The whole array; an empty name means the only one.
    UserArray (*read)(const std::string& file, const std::string& name, Digits digits) = nullptr;
    /// The array if it is sparse.
    std::optional<SparseMatrix> (*read_sparse)(const std::string& file,
                                               const std::string& name) = nullptr;
    /// Rows from a regular file, without holding all of them.
    std::unique_ptr<RowReader> (*open)(const std::string& file) = nullptr;
    std::unique_ptr<RowWriter> (*create)(const NewArray& array) = nullptr;
    /// Refuses a name that an array in a file cannot have.
    void (*require_name)(const std::string& file, const std::string& name) = nullptr;
};

std::span<const ArrayFormat* const> array_formats();

/// The numbers of an array where no complex ones are wanted: these are an input error.
Batch real_numbers(UserArray array, const std::string& place);
void require_real(const UserArray& array, const std::string& place);

/// A sparse matrix with its zeros.
inline UserArray full_array(const SparseMatrix& sparse, std::string_view where, Digits digits) {
    UserArray full = digits == Digits::all ? UserArray(sparse.to_dense<double>(where))
                                           : UserArray(sparse.to_dense(where));
    return sparse.complex() ? std::move(full).as_complex() : full;
}

/// A writer that holds all rows and gives them to `save` at commit(). Over `most_bytes` of them are
/// a usage error that sends the user to .npy.
std::unique_ptr<RowWriter> hold_rows(NewArray array, std::uint64_t most_bytes,
                                     void (*save)(const NewArray&, ConstBatchView));

/// The name of an array that has none of its own: that of its file.
std::string name_from_file(const std::string& file);

}  // namespace pibinn
