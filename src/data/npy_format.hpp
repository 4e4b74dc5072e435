#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/array_format.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

enum class NumberKind { boolean, signed_integer, unsigned_integer, floating };

/// What the header of a .npy array says, checked: the numbers fill the rest of the file exactly.
struct NpyFormat {
    NumberKind kind = NumberKind::floating;
    std::size_t width = 4;  ///< bytes per number, or per part of a complex one
    bool complex = false;   ///< every number is a real part and an imaginary part
    bool big_endian = false;
    bool fortran_order = false;
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::size_t data_offset = 0;

    std::size_t parts() const { return complex ? 2 : 1; }
    std::size_t bytes() const { return width * parts(); }   ///< per number
    std::size_t columns() const { return cols * parts(); }  ///< of a matrix that holds them

    /// Whether float32 would round the numbers.
    bool beyond_float32() const {
        return width > 4 || (width == 4 && kind != NumberKind::floating);
    }
};

/// As many bytes of the start of an array as its header may need. Headers of real arrays have 64 to
/// 256 bytes; a longer one than this is refused.
inline constexpr std::size_t npy_longest_header = 65536;

/// Reads the header in `start`, the first min(total, npy_longest_header) bytes or more of an array
/// of `total` bytes. `where` is the place that errors name.
NpyFormat parse_npy_header(std::string_view start, std::uint64_t total, const std::string& where);

/// Rows of a .npy array as T, float or double, two columns per complex number: `format` with the
/// number of these rows, `data` its numbers. `first_row` is where they stand in the file, for
/// errors. A number beyond float32 is an error either way.
template <class T>
Matrix<T> decode_npy_numbers(const NpyFormat& format, const char* data, std::size_t first_row,
                             const std::string& where);

/// A whole .npy array, header and numbers.
UserArray decode_npy(std::string_view bytes, const std::string& where, Digits digits);

/// The numbers of a 1-D array of integers, which float32 would round. Other arrays are input
/// errors.
std::vector<std::int64_t> decode_npy_integers(std::string_view bytes, const std::string& where);

/// The ASCII text of a 0-D array, such as numpy.array(b"csr"). Other arrays are input errors.
std::string decode_npy_text(std::string_view bytes, const std::string& where);

/// A version 1.0 header for a C-order array, padded so that the numbers start at a multiple of 64.
std::string make_npy_header(std::string_view descr, std::span<const std::size_t> shape);

}  // namespace pibinn
