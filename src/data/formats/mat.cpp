#include <cerrno>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/path.hpp"
#include "data/array_format.hpp"
#include "data/child_process.hpp"
#include "data/claims.hpp"
#include "data/mat_variable.hpp"
#include "data/mat_writer.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// The length of a file that can be read, or an io error that says why it cannot.
std::uint64_t readable_bytes(const std::string& file) {
    const auto fail = [&](const std::string& why, const std::string& hint) {
        fail_io(fmt::format("cannot read '{}': {}", file, why), hint);
    };
    const auto hint_of = [](int error) {
        return error == ENOENT ? "check the path" : path_hint(error);
    };
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0) fail(std::strerror(errno), hint_of(errno));
    struct stat status {};
    const int error = ::fstat(opened, &status) == 0 ? 0 : errno;
    ::close(opened);
    if (error != 0) fail(std::strerror(error), hint_of(error));
    if (!S_ISREG(status.st_mode))
        fail(S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file",
             "give the path of a file");
    return static_cast<std::uint64_t>(status.st_size);
}

// A plain number per field: the parent copies it out of what the child answers.
struct Shape {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::uint64_t sparse = 0;
    std::uint64_t precise = 0;  ///< numbers of a full matrix are float64
    std::uint64_t complex = 0;  ///< numbers are, and those of a full matrix have two columns each
    std::uint64_t entries = 0;
    std::uint64_t where = 0;  ///< length of the text that follows
};

void answer(ChildAnswer& out, const MatVariable& variable) {
    out.write(Shape{variable.rows, variable.cols, variable.sparse, variable.values.precise(),
                    variable.numbers == Numbers::complex, variable.entries.size(),
                    variable.where.size()});
    out.write(variable.where.data(), variable.where.size());
    variable.values.visit(
        [&](const auto& values) { out.write(values.data(), values.values().size_bytes()); });
    out.write(variable.entries.data(), variable.entries.size() * sizeof(SparseEntry));
}

[[noreturn]] void fail_answer(const std::string& file) {
    fail_input(fmt::format("'{}' is damaged: its reader's answer does not fit together", file),
               "save it again");
}

template <class T>
Matrix<T> received_numbers(ChildReply& reply, const Shape& shape, const std::string& file) {
    Matrix<T> numbers(shape.rows, shape.cols * (shape.complex ? 2 : 1));
    reply.read(numbers.data(), numbers.values().size_bytes());
    for (const T v : numbers.values())
        if (!std::isfinite(static_cast<float>(v))) fail_answer(file);
    return numbers;
}

/// The child's answer, of which nothing is believed.
MatVariable received(ChildReply reply, const std::string& file, double most) {
    const auto shape = reply.read<Shape>();
    const double numbers =
        static_cast<double>(shape.rows) * static_cast<double>(shape.cols) * (shape.complex ? 2 : 1);
    const double held = shape.sparse ? static_cast<double>(shape.entries) * sizeof(SparseEntry)
                                     : numbers * (shape.precise ? sizeof(double) : sizeof(float));
    if (held > most || shape.where > 4096 ||
        static_cast<double>(reply.left()) != held + static_cast<double>(shape.where))
        fail_answer(file);
    MatVariable variable;
    variable.rows = shape.rows;
    variable.cols = shape.cols;
    variable.sparse = shape.sparse != 0;
    variable.numbers = shape.complex ? Numbers::complex : Numbers::real;
    variable.where.resize(shape.where);
    reply.read(variable.where.data(), shape.where);
    if (variable.sparse) {
        variable.entries.resize(shape.entries);
        reply.read(variable.entries.data(), shape.entries * sizeof(SparseEntry));
        return variable;
    }
    if (shape.precise)
        variable.values = received_numbers<double>(reply, shape, file);
    else
        variable.values = received_numbers<float>(reply, shape, file);
    if (shape.complex) variable.values = std::move(variable.values).as_complex();
    return variable;
}

/// matio and libhdf5 read hostile files as they read honest ones, and crash: they run in a process
/// of their own, which may take the memory that the file warrants, and some seconds.
MatVariable read_variable(const std::string& file, const std::string& name,
                          std::uint64_t file_bytes, Digits digits) {
    const double most = most_claimed(claim_factor::arrays, file_bytes);
    ChildLimits limits;
    limits.memory = limits.reply = most;
    limits.cpu_seconds = 10 + static_cast<double>(file_bytes) / 10e6;
    limits.seconds = 30 + 3 * limits.cpu_seconds;  // a slow disk, a busy machine
    return received(
        run_in_child(limits, file,
                     [&](ChildAnswer& out) { answer(out, read_mat_variable(file, name, digits)); }),
        file, most);
}

SparseMatrix sparse_matrix(MatVariable variable, std::uint64_t file_bytes) {
    require_sparse_claim(variable.cols, file_bytes, variable.where);
    return SparseMatrix::from_entries(variable.rows, variable.cols, std::move(variable.entries),
                                      variable.where, variable.numbers);
}

UserArray read_mat(const std::string& file, const std::string& name, Digits digits) {
    const std::uint64_t bytes = readable_bytes(file);
    MatVariable variable = read_variable(file, name, bytes, digits);
    if (!variable.sparse) return std::move(variable.values);
    const std::string where = variable.where;
    require_full_claim(variable.rows,
                       variable.cols * (variable.numbers == Numbers::complex ? 2 : 1), bytes, where,
                       digits);
    return full_array(sparse_matrix(std::move(variable), bytes), where, digits);
}

std::optional<SparseMatrix> read_sparse_mat(const std::string& file, const std::string& name) {
    const std::uint64_t bytes = readable_bytes(file);
    MatVariable variable = read_variable(file, name, bytes, Digits::all);
    if (!variable.sparse) return std::nullopt;
    return sparse_matrix(std::move(variable), bytes);
}

}  // namespace

extern const ArrayFormat mat_format;
const ArrayFormat mat_format{
    .suffix = ".mat",
    .named = true,
    .text = false,
    .read = read_mat,
    .read_sparse = read_sparse_mat,
    .open = nullptr,
    .create = [](const NewArray& array) { return hold_rows(array, mat_most_bytes, save_mat); },
    .require_name = require_mat_name};

}  // namespace pibinn
