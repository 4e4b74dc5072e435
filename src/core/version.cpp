#include "pibinn/version.hpp"

namespace pibinn {

std::string_view version() { return PIBINN_VERSION; }

}  // namespace pibinn
