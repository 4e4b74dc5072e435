#pragma once

#include <nlohmann/json_fwd.hpp>

#include "mutator.hpp"

namespace pibinn::fuzz {

/// Changes one value of a JSON text: another number, word or type, a key more or less, or a value
/// that nests deep. A text that is no JSON is changed as bytes.
std::string mutate_json(const std::string& text, std::size_t most, Dice& dice);

/// The text as JSON unless it nests deeper than a mutator needs; discarded otherwise.
nlohmann::json parse_shallow(const std::string& text);

}  // namespace pibinn::fuzz
