#pragma once

#include <string>
#include <string_view>

namespace pibinn::study {

/// A message of the library in the words of a configuration: every field of the public API that a
/// configuration sets ("PatchSpec::side") becomes its key ("problem.patch").
std::string with_keys(std::string_view message);

}  // namespace pibinn::study
