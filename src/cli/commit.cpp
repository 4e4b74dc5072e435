#include "cli/commit.hpp"

#include <generated/commit.hpp>  // made by cmake/commit.cmake at every build

namespace pibinn::cli {

std::string commit() { return PIBINN_COMMIT; }

}  // namespace pibinn::cli
