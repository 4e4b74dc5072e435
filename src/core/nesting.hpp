#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pibinn {

enum class TextSyntax { json, toml };

/// How deep a text nests, judged by its brackets outside of strings and comments; in TOML the dots
/// of a key count too. No parser of such a text goes deeper, except that the keys of nested inline
/// tables in TOML may each have so many dots.
std::size_t nesting_depth(std::string_view text, TextSyntax syntax);

/// Refuses text that nests deeper than `most`, before anything that calls itself for every level
/// reads, copies or frees it: a thread's stack may be small. `what` starts the error.
void require_depth(std::string_view text, TextSyntax syntax, std::size_t most,
                   const std::string& what);

}  // namespace pibinn
