#pragma once

#include <string>
#include <string_view>

namespace pibinn {

/// Text with its control characters as \x0a and the like, so that what a file or an argument says
/// can neither break a line nor speak to the terminal.
std::string escaped(std::string_view text);

/// A word as it is typed into a shell: quoted where a shell would not take it as it is.
std::string shell_word(const std::string& word);

}  // namespace pibinn
