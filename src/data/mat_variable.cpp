#include "data/mat_variable.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <matio.h>
#include <zlib.h>

#include <fmt/format.h>

#include "core/file.hpp"
#include "core/names.hpp"
#include "data/bytes.hpp"
#include "data/claims.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

struct MatCloser {
    void operator()(mat_t* file) const { Mat_Close(file); }
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, MatCloser>;
using Variable = std::unique_ptr<matvar_t, MatCloser>;

/// matio prints its warnings on the standard error stream and goes on with zeros. Here the last one
/// is kept, and becomes an error.
std::string complaint;

void keep_complaint(int level, char* text) {
    if (level & (MATIO_LOG_LEVEL_ERROR | MATIO_LOG_LEVEL_CRITICAL | MATIO_LOG_LEVEL_WARNING))
        complaint = text;
}

void require_no_complaint(const std::string& where) {
    if (!complaint.empty())
        fail_input(fmt::format("'{}' is damaged: {}", where,
                               excerpt(complaint.substr(0, complaint.find('\n')))),
                   "copy or save the file again");
}

/// Compressed data end with a checksum, which matio does not check.
bool inflates(std::string_view data) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) return false;
    std::vector<Bytef> nowhere(1U << 16U);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    int status = Z_OK;
    while (status == Z_OK) {
        stream.next_out = nowhere.data();
        stream.avail_out = static_cast<uInt>(nowhere.size());
        status = inflate(&stream, Z_NO_FLUSH);
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END;
}

/// A file of version 5 is a list of elements, each after its kind and length. matio silently reads
/// missing bytes at the end as zeros, so the list is checked first.
void require_whole(const std::filesystem::path& path) {
    constexpr std::uint64_t header = 128;
    constexpr std::uint32_t compressed = 15;
    const std::string where = path.string();
    const std::string bytes = read_file(path);
    const bool swapped = bytes.size() >= header && bytes[header - 2] == 'M';  // else "IM"
    const auto number = [&](std::uint64_t at) {
        const auto value = load_little<std::uint32_t>(bytes, at, where);
        return swapped ? __builtin_bswap32(value) : value;
    };
    for (std::uint64_t at = header; at < bytes.size();) {
        const std::uint32_t kind = number(at), length = number(at + 4);
        if (length > bytes.size() - at - 8)
            fail_input(fmt::format("'{}' is truncated: an element of {} bytes at {} of {}", where,
                                   length, at, bytes.size()),
                       "copy or save the file again");
        if (kind == compressed && !inflates(std::string_view(bytes).substr(at + 8, length)))
            fail_input(fmt::format("'{}' is damaged: the compressed data at {} do not match their "
                                   "checksum",
                                   where, at),
                       "copy or save the file again");
        at += 8 + length;
    }
}

MatFile open_mat(const std::filesystem::path& path) {
    // A hostile file may ask for a filter that libhdf5 would load as a plugin: it must not.
    ::setenv("HDF5_PLUGIN_PRELOAD", "::", 1);
    ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);  // read-only file systems have no locks
    Mat_LogInitFunc("pibinn", keep_complaint);
    complaint.clear();
    MatFile file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!file || Mat_GetVersion(file.get()) == MAT_FT_MAT4)
        fail_input(fmt::format("'{}' is not a MATLAB file of version 5 to 7.3", path.string()),
                   "save it again with save('x.mat', 'x')");
    if (Mat_GetVersion(file.get()) == MAT_FT_MAT5) require_whole(path);
    return file;
}

std::vector<std::string> names_in(mat_t* file) {
    std::vector<std::string> names;
    Mat_Rewind(file);
    while (const Variable info{Mat_VarReadNextInfo(file)})
        if (info->name) names.emplace_back(info->name);
    Mat_Rewind(file);
    return names;
}

std::string choose(mat_t* file, const std::string& where, const std::string& name) {
    const std::vector<std::string> names = names_in(file);
    require_no_complaint(where);
    std::string list;
    for (const std::string& known : names) list += (list.empty() ? "" : ", ") + shown(known);
    if (names.empty())
        fail_input(fmt::format("'{}' holds no variables", where),
                   "save them with save('x.mat', 'x')");
    if (name.empty()) {
        if (names.size() == 1) return names.front();
        fail_input(fmt::format("'{}' holds {} variables: {}", where, names.size(), list),
                   fmt::format("name one of them, such as '{}:NAME'", where));
    }
    for (const std::string& known : names)
        if (known == name) return name;
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string near = nearest_name(name, views);
    fail_input(fmt::format("'{}' has no variable {}", where, shown(name)),
               near.empty() ? "it holds " + list : "did you mean " + shown(near) + "?");
}

/// What a variable claims to be, checked before its numbers are read.
void require_numbers(const matvar_t& info, const std::filesystem::path& path,
                     const std::string& where, Digits digits) {
    switch (info.class_type) {
        case MAT_C_SPARSE:
        case MAT_C_DOUBLE:
        case MAT_C_SINGLE:
        case MAT_C_INT8:
        case MAT_C_UINT8:
        case MAT_C_INT16:
        case MAT_C_UINT16:
        case MAT_C_INT32:
        case MAT_C_UINT32:
        case MAT_C_INT64:
        case MAT_C_UINT64:
            break;
        default:
            fail_input(fmt::format("'{}' is not a matrix of numbers", where),
                       "save a numeric matrix, not a struct, a cell array or text");
    }
    if (info.rank != 2)
        fail_input(fmt::format("'{}' has {} dimensions", where, info.rank),
                   "save a matrix with one signal per row: reshape(x, size(x, 1), [])");
    // A sparse matrix holds fewer numbers than these; what it holds is limited by the child.
    if (info.class_type == MAT_C_SPARSE) return;
    const double numbers = static_cast<double>(info.dims[0]) * static_cast<double>(info.dims[1]) *
                           (info.isComplex ? 2 : 1);
    const double width = digits == Digits::all ? sizeof(double) : sizeof(float);
    std::error_code code;
    const auto bytes = std::filesystem::file_size(path, code);
    require_claim(
        numbers * (sizeof(double) + width), claim_factor::arrays, code ? 0 : bytes,
        fmt::format("'{}' claims {} x {} numbers, which", where, info.dims[0], info.dims[1]));
}

double number_at(const void* data, matio_types type, std::size_t i, const std::string& where) {
    switch (type) {
        case MAT_T_DOUBLE:
            return static_cast<const double*>(data)[i];
        case MAT_T_SINGLE:
            return static_cast<const float*>(data)[i];
        case MAT_T_INT8:
            return static_cast<const std::int8_t*>(data)[i];
        case MAT_T_UINT8:
            return static_cast<const std::uint8_t*>(data)[i];
        case MAT_T_INT16:
            return static_cast<const std::int16_t*>(data)[i];
        case MAT_T_UINT16:
            return static_cast<const std::uint16_t*>(data)[i];
        case MAT_T_INT32:
            return static_cast<const std::int32_t*>(data)[i];
        case MAT_T_UINT32:
            return static_cast<const std::uint32_t*>(data)[i];
        case MAT_T_INT64:
            return static_cast<double>(static_cast<const std::int64_t*>(data)[i]);
        case MAT_T_UINT64:
            return static_cast<double>(static_cast<const std::uint64_t*>(data)[i]);
        default:
            fail_input(fmt::format("'{}' holds numbers of an unknown type", where),
                       "save it as double or single");
    }
}

/// Whether float32 would round numbers of this type.
bool beyond_float32(matio_types type) {
    return type != MAT_T_SINGLE && Mat_SizeOf(type) >= sizeof(float);
}

/// The real parts of a variable's numbers, or their imaginary parts.
const void* part_of(const matvar_t& variable, const void* numbers, std::size_t part,
                    const std::string& where) {
    if (numbers && variable.isComplex) {
        const auto& parts = *static_cast<const mat_complex_split_t*>(numbers);
        numbers = part == 0 ? parts.Re : parts.Im;
    }
    if (!numbers) fail_input(fmt::format("'{}' holds no numbers", where), "save it again");
    return numbers;
}

std::vector<SparseEntry> sparse_entries(const matvar_t& variable, const std::string& where) {
    const auto& sparse = *static_cast<const mat_sparse_t*>(variable.data);
    const std::size_t cols = variable.dims[1];
    if (sparse.njc != cols + 1 || sparse.nir < sparse.ndata)
        fail_input(fmt::format("'{}' is a damaged sparse matrix", where), "save it again");
    std::vector<SparseEntry> entries;
    if (sparse.ndata == 0) return entries;
    const auto number = [&](std::size_t part, std::size_t k) {
        return number_at(part_of(variable, sparse.data, part, where), variable.data_type, k, where);
    };
    for (std::size_t j = 0; j < cols; ++j)
        for (std::size_t k = sparse.jc[j]; k < sparse.jc[j + 1] && k < sparse.ndata; ++k)
            entries.push_back({sparse.ir[k], static_cast<std::uint32_t>(j), number(0, k),
                               variable.isComplex ? number(1, k) : 0});
    return entries;
}

template <class T>
Matrix<T> full_matrix(const matvar_t& variable, const std::string& where) {
    const std::size_t rows = variable.dims[0], cols = variable.dims[1];
    const std::size_t parts = variable.isComplex ? 2 : 1;
    if (variable.nbytes / Mat_SizeOf(variable.data_type) < rows * cols)
        fail_input(fmt::format("'{}' is truncated", where), "copy or save the file again");
    Matrix<T> batch(rows, cols * parts);
    // MATLAB stores columns one after the other, and all real parts before the imaginary ones.
    for (std::size_t part = 0; part < parts; ++part) {
        const void* const data = part_of(variable, variable.data, part, where);
        for (std::size_t j = 0; j < cols; ++j)
            for (std::size_t i = 0; i < rows; ++i) {
                const double value = number_at(data, variable.data_type, j * rows + i, where);
                batch(i, j * parts + part) = static_cast<T>(value);
                if (!std::isfinite(static_cast<float>(value)))
                    fail_input(fmt::format("'{}' has {} at row {}, column {}{} (counted from 0)",
                                           where, value, i, j, part == 1 ? ", imaginary part" : ""),
                               "replace NaN and infinite values, scale large ones down");
            }
    }
    return batch;
}

}  // namespace

MatVariable read_mat_variable(const std::string& path, const std::string& name, Digits digits) {
    const MatFile file = open_mat(path);
    const std::string chosen = choose(file.get(), path, name);
    MatVariable result;
    result.where = path + ":" + excerpt(chosen);
    const std::string& where = result.where;
    {
        const Variable info(Mat_VarReadInfo(file.get(), chosen.c_str()));
        if (!info) fail_input(fmt::format("'{}' cannot be read", where), "save it again");
        require_numbers(*info, path, where, digits);
    }
    const Variable variable(Mat_VarRead(file.get(), chosen.c_str()));
    require_no_complaint(where);
    if (!variable || variable->rank != 2)
        fail_input(fmt::format("'{}' cannot be read", where), "the file is damaged: save it again");
    result.rows = variable->dims[0];
    result.cols = variable->dims[1];
    if (result.rows == 0 || result.cols == 0) return result;
    if (!variable->data) fail_input(fmt::format("'{}' holds no numbers", where), "save it again");
    result.sparse = variable->class_type == MAT_C_SPARSE;
    if (result.sparse)
        result.entries = sparse_entries(*variable, where);
    else if (digits == Digits::all && beyond_float32(variable->data_type))
        result.values = full_matrix<double>(*variable, where);
    else
        result.values = full_matrix<float>(*variable, where);
    if (variable->isComplex) result.numbers = Numbers::complex;
    if (variable->isComplex && !result.sparse)
        result.values = std::move(result.values).as_complex();
    return result;
}

}  // namespace pibinn
