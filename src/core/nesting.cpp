#include "core/nesting.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

bool is_key_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == ' ' || c == '\t';
}

/// The end of the string that starts at `at`. One that does not end is an error to every parser,
/// so what is returned for it does not matter, as long as a line's end ends it.
std::size_t string_end(std::string_view text, std::size_t at, TextSyntax syntax) {
    const char quote = text[at];
    const bool escapes = quote == '"';
    const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
    const bool lines = syntax == TextSyntax::toml && text.substr(at).starts_with(three);
    for (at += lines ? 3 : 1; at < text.size(); ++at) {
        if (escapes && text[at] == '\\') {
            ++at;
        } else if (lines && text.substr(at).starts_with(three)) {
            at += 3;
            // One or two quotes before the closing three belong to the string.
            for (int more = 0; more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
            return at;
        } else if (!lines && (text[at] == quote || text[at] == '\n')) {
            return at + 1;
        }
    }
    return text.size();
}

}  // namespace

std::size_t nesting_depth(std::string_view text, TextSyntax syntax) {
    const bool toml = syntax == TextSyntax::toml;
    std::size_t open = 0, dots = 0, deepest = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || (toml && c == '\'')) {
            at = string_end(text, at, syntax);
            continue;
        }
        if (toml && c == '#') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (toml && c == '.')
            ++dots;
        else if (!is_key_character(c))
            dots = 0;
        if (c == '[' || c == '{')
            ++open;
        else if ((c == ']' || c == '}') && open > 0)
            --open;
        deepest = std::max(deepest, open + dots);
        ++at;
    }
    return deepest;
}

void require_depth(std::string_view text, TextSyntax syntax, std::size_t most,
                   const std::string& what) {
    if (const std::size_t depth = nesting_depth(text, syntax); depth > most)
        fail_input(fmt::format("{} nests {} levels deep; at most {} are read", what, depth, most),
                   "the file is damaged, or was not made for pibinn");
}

}  // namespace pibinn
