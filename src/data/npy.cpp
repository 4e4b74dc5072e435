#include "pibinn/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>

#include <fmt/format.h>

#include "core/file.hpp"
#include "data/bytes.hpp"
#include "data/npy_format.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

struct Boolean {
    std::uint8_t byte;
};
struct Half {
    std::uint16_t bits;
};

/// IEEE binary16; every value of it is a float32.
float widen(Half half) {
    const int exponent = (half.bits >> 10) & 0x1f;
    const int fraction = half.bits & 0x3ff;
    float magnitude = std::ldexp(static_cast<float>(fraction + (exponent ? 1024 : 0)),
                                 std::max(exponent, 1) - 25);
    if (exponent == 0x1f) magnitude = fraction ? NAN : INFINITY;
    return half.bits & 0x8000 ? -magnitude : magnitude;
}
float widen(Boolean value) { return value.byte != 0 ? 1.0F : 0.0F; }
template <class T>
requires(std::integral<T> || std::floating_point<T>) T widen(T value) { return value; }

template <class T>
T load(const char* from, bool big_endian) {
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    if (big_endian) std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<T>(bytes);
}

template <class Stored, class T>
void decode(const NpyFormat& format, const char* data, std::size_t first_row, Matrix<T>& into,
            const std::string& where) {
    const std::size_t parts = format.parts();
    const auto place = [&](std::size_t i, std::size_t j, std::size_t part) {
        return (format.fortran_order ? j * format.rows + i : i * format.cols + j) * parts + part;
    };
    const auto fail = [&](auto value, std::size_t i, std::size_t j, std::size_t part) {
        const bool finite = std::isfinite(static_cast<double>(value));
        fail_input(fmt::format("'{}' has {} at row {}, column {}{}{}", where, value, first_row + i,
                               j, part == 1 ? ", imaginary part" : "",
                               finite ? ": too large for float32" : " (counted from 0)"),
                   finite ? "scale the values down" : "replace NaN and infinite values");
    };
    for (std::size_t i = 0; i < format.rows; ++i)
        for (std::size_t j = 0; j < format.cols; ++j)
            for (std::size_t part = 0; part < parts; ++part) {
                const char* const from = data + place(i, j, part) * sizeof(Stored);
                // Integers of 64 bits go through double too, so that both precisions agree.
                const auto value =
                    static_cast<double>(widen(load<Stored>(from, format.big_endian)));
                into(i, j * parts + part) = static_cast<T>(value);
                if (!std::isfinite(static_cast<float>(value))) fail(value, i, j, part);
            }
}

template <class One, class Two, class Four, class Eight, class T>
void decode_width(const NpyFormat& format, const char* data, std::size_t first_row, Matrix<T>& into,
                  const std::string& where) {
    switch (format.width) {
        case 1:
            return decode<One>(format, data, first_row, into, where);
        case 2:
            return decode<Two>(format, data, first_row, into, where);
        case 4:
            return decode<Four>(format, data, first_row, into, where);
        default:
            return decode<Eight>(format, data, first_row, into, where);
    }
}

}  // namespace

template <class T>
Matrix<T> decode_npy_numbers(const NpyFormat& format, const char* data, std::size_t first_row,
                             const std::string& where) {
    Matrix<T> batch(format.rows, format.columns());
    switch (format.kind) {
        case NumberKind::boolean:
            decode<Boolean>(format, data, first_row, batch, where);
            break;
        case NumberKind::signed_integer:
            decode_width<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(
                format, data, first_row, batch, where);
            break;
        case NumberKind::unsigned_integer:
            decode_width<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(
                format, data, first_row, batch, where);
            break;
        case NumberKind::floating:
            ensure(format.width > 1, "floats have at least 2 bytes");
            decode_width<Boolean, Half, float, double>(format, data, first_row, batch, where);
            break;
    }
    return batch;
}

template Matrix<float> decode_npy_numbers(const NpyFormat&, const char*, std::size_t,
                                          const std::string&);
template Matrix<double> decode_npy_numbers(const NpyFormat&, const char*, std::size_t,
                                           const std::string&);

UserArray decode_npy(std::string_view bytes, const std::string& where, Digits digits) {
    const NpyFormat format = parse_npy_header(bytes, bytes.size(), where);
    const char* const data = bytes.data() + format.data_offset;
    UserArray array = digits == Digits::all && format.beyond_float32()
                          ? UserArray(decode_npy_numbers<double>(format, data, 0, where))
                          : UserArray(decode_npy_numbers<float>(format, data, 0, where));
    return format.complex ? std::move(array).as_complex() : array;
}

std::vector<std::int64_t> decode_npy_integers(std::string_view bytes, const std::string& where) {
    const NpyFormat format = parse_npy_header(bytes, bytes.size(), where);
    const bool whole =
        format.kind == NumberKind::signed_integer || format.kind == NumberKind::unsigned_integer;
    if (!whole || format.rows > 1)
        fail_input(fmt::format("'{}' is not a 1-D array of integers", where),
                   "save it as numpy.int64");
    std::vector<std::int64_t> values(format.cols * format.rows);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const char* const from = bytes.data() + format.data_offset + i * format.width;
        const auto as = [&]<class Signed, class Unsigned>() {
            return format.kind == NumberKind::signed_integer
                       ? static_cast<std::int64_t>(load<Signed>(from, format.big_endian))
                       : static_cast<std::int64_t>(load<Unsigned>(from, format.big_endian));
        };
        values[i] = format.width == 1   ? as.operator()<std::int8_t, std::uint8_t>()
                    : format.width == 2 ? as.operator()<std::int16_t, std::uint16_t>()
                    : format.width == 4 ? as.operator()<std::int32_t, std::uint32_t>()
                                        : as.operator()<std::int64_t, std::uint64_t>();
    }
    return values;
}

Batch read_npy(const std::filesystem::path& path) {
    return real_numbers(decode_npy(read_file(path), path.string(), Digits::float32), path.string());
}

void write_npy(const std::filesystem::path& path, ConstBatchView values, Numbers numbers) {
    NpyWriter writer(path, values.rows, values.cols, numbers);
    writer.write(values);
    writer.commit();
}

NpyWriter::NpyWriter(const std::filesystem::path& path, std::optional<std::size_t> rows,
                     std::size_t cols, Numbers numbers)
    : file_(std::make_unique<AtomicFile>(path)), announced_(rows), cols_(cols), numbers_(numbers) {
    file_->write(header(rows.value_or(0)));
}
NpyWriter::~NpyWriter() = default;

std::string NpyWriter::header(std::size_t rows) const {
    const bool complex = numbers_ == Numbers::complex;
    return make_npy_header(complex ? "<c8" : "<f4", std::array{rows, complex ? cols_ / 2 : cols_});
}

void NpyWriter::write(ConstBatchView rows) {
    if (rows.cols != cols_)
        fail_usage(fmt::format("expected rows of {} numbers, got {}", cols_, rows.cols),
                   "every row of an array has the same length");
    if (announced_ && rows.rows > *announced_ - rows_)
        fail_usage(
            fmt::format("{} rows after {} of {} announced rows", rows.rows, rows_, *announced_),
            "announce as many rows as will be written");
    rows_ += rows.rows;
    if (rows.contiguous()) {
        file_->write(rows.data, rows.rows * rows.cols * sizeof(float));
        return;
    }
    for (std::size_t i = 0; i < rows.rows; ++i)
        file_->write(rows.row(i).data(), rows.cols * sizeof(float));
}

void NpyWriter::commit() {
    if (announced_ && rows_ != *announced_)
        fail_usage(fmt::format("{} of {} announced rows were written", rows_, *announced_),
                   "announce as many rows as will be written");
    if (!announced_)
        // Padding makes the headers of any number of rows equally long.
        file_->rewrite_start(header(rows_));
    file_->commit();
}

void write_npy_indices(const std::filesystem::path& path, std::span<const std::uint32_t> values) {
    const std::vector<std::int64_t> wide(values.begin(), values.end());
    AtomicFile file(path);
    file.write(make_npy_header("<i8", std::array{wide.size()}));
    file.write(wide.data(), wide.size() * sizeof(std::int64_t));
    file.commit();
}

void require_batch(ConstBatchView batch, std::size_t cols, std::string_view noun,
                   const std::filesystem::path& path) {
    require_shape(batch.rows, batch.cols, cols, noun, path);
}

void require_shape(std::size_t rows, std::size_t cols, std::size_t expected_cols,
                   std::string_view noun, const std::filesystem::path& path) {
    if (rows == 0)
        fail_input(fmt::format("'{}' holds no {}: it has 0 rows", path.string(), noun),
                   "give at least one row");
    if (cols == expected_cols) return;
    fail_input(fmt::format("expected {} {} per row, got {} ('{}' is {} x {})", expected_cols, noun,
                           cols, path.string(), rows, cols),
               rows == expected_cols
                   ? "the array looks transposed: save array.T, one signal per row"
                   : "give an array with one signal per row");
}

}  // namespace pibinn
