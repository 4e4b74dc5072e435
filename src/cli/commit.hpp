#pragma once

#include <string>

namespace pibinn::cli {

/// The commit that this program was built from, with "-dirty" where files had changed since; empty
/// where it was built outside of a repository.
std::string commit();

}  // namespace pibinn::cli
