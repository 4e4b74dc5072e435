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

template <class T>
void decode(const NpyFormat& format, const char* data, Batch& into, const std::string& where) {
    for (std::size_t i = 0; i < format.rows; ++i)
        for (std::size_t j = 0; j < format.cols; ++j) {
            const std::size_t at = format.fortran_order ? j * format.rows + i : i * format.cols + j;
            const auto value = widen(load<T>(data + at * sizeof(T), format.big_endian));
            into(i, j) = static_cast<float>(value);
            if (std::isfinite(into(i, j))) continue;
            if (std::isfinite(static_cast<double>(value)))
                fail_input(fmt::format("'{}' has {} at row {}, column {}: too large for float32",
                                       where, value, i, j),
                           "scale the values down");
            fail_input(fmt::format("'{}' has {} at row {}, column {} (counted from 0)", where,
                                   value, i, j),
                       "replace NaN and infinite values");
        }
}

template <class One, class Two, class Four, class Eight>
void decode_width(const NpyFormat& format, const char* data, Batch& into,
                  const std::string& where) {
    switch (format.width) {
        case 1:
            return decode<One>(format, data, into, where);
        case 2:
            return decode<Two>(format, data, into, where);
        case 4:
            return decode<Four>(format, data, into, where);
        default:
            return decode<Eight>(format, data, into, where);
    }
}

}  // namespace

Batch decode_npy(std::string_view bytes, const std::string& where) {
    const NpyFormat format = parse_npy_header(bytes, bytes.size(), where);
    const char* const data = bytes.data() + format.data_offset;
    Batch batch(format.rows, format.cols);
    switch (format.kind) {
        case NumberKind::boolean:
            decode<Boolean>(format, data, batch, where);
            break;
        case NumberKind::signed_integer:
            decode_width<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(format, data, batch,
                                                                                where);
            break;
        case NumberKind::unsigned_integer:
            decode_width<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(format, data,
                                                                                    batch, where);
            break;
        case NumberKind::floating:
            ensure(format.width > 1, "floats have at least 2 bytes");
            decode_width<Boolean, Half, float, double>(format, data, batch, where);
            break;
    }
    return batch;
}

Batch read_npy(const std::filesystem::path& path) {
    return decode_npy(read_file(path), path.string());
}

void write_npy(const std::filesystem::path& path, ConstBatchView values) {
    AtomicFile file(path);
    file.write(make_npy_header("<f4", std::array{values.rows, values.cols}));
    if (values.contiguous()) {
        file.write(values.data, values.rows * values.cols * sizeof(float));
    } else {
        for (std::size_t i = 0; i < values.rows; ++i)
            file.write(values.row(i).data(), values.cols * sizeof(float));
    }
    file.commit();
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
    if (batch.rows == 0)
        fail_input(fmt::format("'{}' holds no {}: it has 0 rows", path.string(), noun),
                   "give at least one row");
    if (batch.cols == cols) return;
    fail_input(fmt::format("expected {} {} per row, got {} ('{}' is {} x {})", cols, noun,
                           batch.cols, path.string(), batch.rows, batch.cols),
               batch.rows == cols ? "the array looks transposed: save array.T, one signal per row"
                                  : "give an array with one signal per row");
}

}  // namespace pibinn
