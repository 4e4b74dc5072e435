#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pibinn::study {

/// A field of the public API as messages of the library name it, and what a caller calls it.
struct FieldKey {
    std::string_view field;
    std::string_view key;
};

std::string replace_fields(std::string text, std::span<const FieldKey> keys);

/// A message of the library in the words of a configuration: every field of the public API that a
/// configuration sets ("PatchSpec::side") becomes its key ("problem.patch").
std::string with_keys(std::string_view message);

}  // namespace pibinn::study
