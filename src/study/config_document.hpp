#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "pibinn/error.hpp"
#include "study/problem_kind.hpp"

namespace pibinn::study {

/// One value of a configuration, which knows where it was written. Every reader refuses what is
/// not of its type or range, naming file, line and key.
class ConfigValue {
public:
    ConfigValue(std::string key, const toml::node& node) : key_(std::move(key)), node_(&node) {}

    std::uint64_t whole(std::uint64_t least,
                        std::uint64_t most = std::numeric_limits<std::int64_t>::max()) const;
    /// A number in [least, most], or in (least, most] when `open`.
    double number(double least, double most, bool open = false) const;
    bool flag() const;
    std::string text() const;
    /// A path; a relative one starts at the folder of the file it is written in.
    std::string path() const;
    /// A list of paths.
    std::vector<std::string> paths() const;
    std::vector<std::uint64_t> wholes(
        std::uint64_t least, std::uint64_t most = std::numeric_limits<std::int64_t>::max()) const;
    /// A list of lists of whole numbers.
    std::vector<std::vector<std::uint64_t>> lists(std::uint64_t least, std::uint64_t most) const;
    /// A word that `parse` turns into what it names; its complaint gains the place.
    template <class Parse>
    auto word(Parse parse) const {
        const std::string name = text();
        try {
            return parse(name);
        } catch (const Error& error) {
            fail(error.message(), error.hint());
        }
    }

    const std::string& key() const { return key_; }
    const toml::node& node() const { return *node_; }
    [[noreturn]] void fail(const std::string& what, const std::string& hint) const;

private:
    [[noreturn]] void fail_type(const std::string& expected) const;

    std::string key_;  ///< dotted, as "problem.m"
    const toml::node* node_;
};

/// A key that a section may hold, what it means, and what is done with its value.
struct ConfigKey {
    std::string_view name;
    std::string_view value;    ///< the default as TOML; empty where there is none
    std::string_view example;  ///< otherwise a value that it may have
    std::string help;
    std::function<void(const ConfigValue&)> set;
    KeyKinds kinds = {};
};

/// A TOML file and the values set over it. Sections are read by lists of known keys, so that a key
/// nobody knows is an error and never a silent default.
class ConfigDocument {
public:
    /// `file` may be empty. A set value is TOML; a bare word is taken as a string. `beside` names a
    /// section of the file that somebody else reads.
    ConfigDocument(const std::string& file, std::span<const std::string> sets,
                   std::string_view beside = {});

    /// Calls set() of every key that is present, in the order of the list. The section "" holds the
    /// keys that stand before all sections.
    void read(std::string_view section, std::span<const ConfigKey> keys) const;

    /// Calls set() for a key in every layer that has it, the file first: for values that add up
    /// instead of replacing each other.
    void read_each(std::string_view section, std::string_view key,
                   const std::function<void(const ConfigValue&)>& set) const;

private:
    /// The table of a section in one layer, or null.
    const toml::table* table_of(const toml::table& layer, std::string_view section) const;

    std::vector<toml::table> layers_;  ///< the file, then each set value: the last one wins
};

/// The table of a TOML text; a mistake is an input error that names `where` and the line.
toml::table parse_configuration(const std::string& text, const std::string& where);
/// "file.toml:3", or the flag that set the value.
std::string place_of(const toml::source_region& source);

/// Reads the keys of one table, such as an element of an array of tables.
void read_table(const std::string& prefix, const toml::table& table,
                std::span<const ConfigKey> keys);

}  // namespace pibinn::study
