#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "pibinn/error.hpp"

namespace pibinn {

/// A JSON object out of a file that is not to be trusted. Anything else, or one that nests deeper
/// than what pibinn writes, is an input error that starts with `what`.
nlohmann::json parse_json_object(std::string_view text, const std::string& what);

/// The fields of such an object, by type. One that is missing or of another type is an input error
/// that names it and starts with `what`: "model.safetensors: metadata 'pibinn.structure'".
class JsonFields {
public:
    /// `object` stays the caller's.
    JsonFields(const nlohmann::json& object, std::string what);

    bool has(const char* key) const { return object_.contains(key); }
    std::string word(const char* key) const;
    double number(const char* key) const;  ///< finite
    bool flag(const char* key) const;
    /// A whole number, `least` or more.
    std::size_t whole(const char* key, std::size_t least, std::size_t most) const;
    /// A list of lists of two whole numbers from 1 on.
    std::vector<std::pair<std::size_t, std::size_t>> pairs(const char* key, std::size_t most) const;

    /// What `parse` makes of a word; a word that it refuses is an input error, too.
    template <class Parse>
    auto choice(const char* key, Parse&& parse) const {
        const std::string name = word(key);
        return checked([&] { return parse(name); });
    }
    /// The same of anything made from the fields.
    template <class Make>
    auto checked(Make&& make) const {
        try {
            return make();
        } catch (const Error& error) {
            fail(error.message());
        }
    }

private:
    [[noreturn]] void fail(const std::string& why) const;
    const nlohmann::json& at(const char* key, const char* type,
                             bool (*fits)(const nlohmann::json&)) const;

    const nlohmann::json& object_;
    std::string what_;
};

}  // namespace pibinn
