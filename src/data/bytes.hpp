#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/escape.hpp"

#include "pibinn/error.hpp"

namespace pibinn {

static_assert(std::endian::native == std::endian::little,
              "the file formats are little-endian and are read and written by copying");

/// The number at a place of a file whose length is not to be trusted.
template <class T>
T load_little(std::string_view bytes, std::uint64_t at, const std::string& where) {
    if (at > bytes.size() || bytes.size() - at < sizeof(T))
        fail_input(fmt::format("'{}' is truncated: {} bytes wanted at {}, the file has {}", where,
                               sizeof(T), at, bytes.size()),
                   "copy or save the file again");
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
}

template <class T>
void append_little(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// Text out of a file, fit for an error message: escaped, and cut where it is long.
inline std::string excerpt(std::string_view text) {
    constexpr std::size_t longest = 80;
    return escaped(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

inline std::string shown(std::string_view text) { return fmt::format("'{}'", excerpt(text)); }

}  // namespace pibinn
