#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace pibinn {

/// Words in lines of at most 96 characters, each ended by a line break, all but the first indented.
inline std::string wrapped(std::string_view text, std::size_t indent = 0) {
    constexpr std::size_t width = 96;
    std::string out;
    std::size_t column = indent;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (column > indent && column + 1 + word.size() > width) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
    }
    return out + '\n';
}

}  // namespace pibinn
