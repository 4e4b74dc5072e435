// room: core
#pragma once

#include <string_view>

namespace pibinn {

/// The version of the library that is linked, as "MAJOR.MINOR.PATCH".
std::string_view version();

}  // namespace pibinn
