#pragma once

#include <string_view>
#include <vector>

namespace pibinn::study {

using Words = std::vector<std::string_view>;

/// The words of a list with commas, each of them known; all known ones for an empty list.
Words words_of(std::string_view option, std::string_view list, const Words& known);

}  // namespace pibinn::study
