#include "core/escape.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace pibinn {

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f)
            result += fmt::format("\\x{:02x}", byte);
        else
            result += c;
    }
    return result;
}

std::string shell_word(const std::string& word) {
    constexpr std::string_view plain = "%+,-./:=@_";
    const bool bare = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               plain.find(c) != std::string_view::npos;
    });
    if (bare) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

}  // namespace pibinn
