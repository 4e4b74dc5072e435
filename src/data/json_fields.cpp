#include "data/json_fields.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/nesting.hpp"

namespace pibinn {

namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 16;  // what is written here nests no deeper than 6
constexpr const char* kDamaged = "the file is damaged or was not written by pibinn";

}  // namespace

json parse_json_object(std::string_view text, const std::string& what) {
    require_depth(text, TextSyntax::json, kDeepest, what);
    json parsed = json::parse(text.begin(), text.end(), nullptr, false);
    if (!parsed.is_object()) fail_input(fmt::format("{} is not a JSON object", what), kDamaged);
    return parsed;
}

JsonFields::JsonFields(const json& object, std::string what)
    : object_(object), what_(std::move(what)) {}

void JsonFields::fail(const std::string& why) const {
    fail_input(fmt::format("{}: {}", what_, why), kDamaged);
}

const json& JsonFields::at(const char* key, const char* type, bool (*fits)(const json&)) const {
    const auto found = object_.find(key);
    if (found == object_.end() || !fits(*found))
        fail(fmt::format("'{}' is missing or not {}", key, type));
    return *found;
}

std::string JsonFields::word(const char* key) const {
    return at(key, "a word", [](const json& j) { return j.is_string(); }).get<std::string>();
}

double JsonFields::number(const char* key) const {
    return at(key, "a finite number",
              [](const json& j) { return j.is_number() && std::isfinite(j.get<double>()); })
        .get<double>();
}

bool JsonFields::flag(const char* key) const {
    return at(key, "true or false", [](const json& j) { return j.is_boolean(); }).get<bool>();
}

std::size_t JsonFields::whole(const char* key, std::size_t least, std::size_t most) const {
    const auto value = at(key, "a whole number", [](const json& j) {
                           return j.is_number_unsigned();
                       }).get<std::uint64_t>();
    if (value < least || value > most)
        fail(fmt::format("'{}' is {}, not between {} and {}", key, value, least, most));
    return value;
}

std::vector<std::pair<std::size_t, std::size_t>> JsonFields::pairs(const char* key,
                                                                   std::size_t most) const {
    std::vector<std::pair<std::size_t, std::size_t>> values;
    for (const json& pair : at(key, "a list", [](const json& j) { return j.is_array(); })) {
        const auto side = [&](std::size_t i) {
            const bool whole = pair.is_array() && pair.size() == 2 &&
                               pair[i].is_number_unsigned() && pair[i].get<std::uint64_t>() > 0 &&
                               pair[i].get<std::uint64_t>() <= most;
            if (!whole)
                fail(fmt::format("entry {} of '{}' is not two whole numbers between 1 and {}",
                                 values.size(), key, most));
            return pair[i].get<std::size_t>();
        };
        const std::size_t first = side(0);
        values.emplace_back(first, side(1));
    }
    return values;
}

}  // namespace pibinn
