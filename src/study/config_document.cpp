#include "study/config_document.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "core/file.hpp"
#include "core/names.hpp"
#include "core/nesting.hpp"

namespace pibinn::study {

namespace {

constexpr std::array<std::string_view, 3> kSections{"problem", "model", "train"};
constexpr std::string_view kSet = "--set ";

// A configuration needs 4: [[train.stage]] and lists of lists.
constexpr std::size_t kDeepest = 16;

toml::table parse_set(const std::string& set) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0)
        fail_usage(fmt::format("--set '{}' is not of the form key=value", set),
                   "write --set problem.m=32, for example");
    const std::string where = std::string(kSet) + set;
    const std::string key = set.substr(0, equals);
    const std::string value = set.substr(equals + 1);
    require_depth(set, TextSyntax::toml, kDeepest, where);
    try {
        return toml::parse(key + " = " + value, where);
    } catch (const toml::parse_error&) {
        // Shells eat quotes: what is not TOML is a word.
        std::string quoted;
        for (const char c : value)
            quoted += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
        return parse_configuration(key + " = \"" + quoted + "\"", where);
    }
}

std::string dotted(std::string_view section, std::string_view key) {
    return section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
}

void require_known(std::string_view section, const toml::table& table,
                   std::span<const ConfigKey> keys) {
    std::vector<std::string_view> names;
    for (const ConfigKey& key : keys) names.push_back(key.name);
    if (section.empty()) names.insert(names.end(), kSections.begin(), kSections.end());
    for (const auto& [name, node] : table) {
        if (std::find(names.begin(), names.end(), name.str()) != names.end()) continue;
        const toml::source_region at{name.source().begin, name.source().end, node.source().path};
        fail_usage(fmt::format("{}: unknown key '{}'", place_of(at), dotted(section, name.str())),
                   hint_for_unknown(name.str(), names));
    }
}

}  // namespace

std::string place_of(const toml::source_region& source) {
    const std::string path = source.path ? *source.path : "configuration";
    if (path.starts_with(kSet)) return path;
    return fmt::format("{}:{}", path, source.begin.line);
}

toml::table parse_configuration(const std::string& text, const std::string& where) {
    require_depth(text, TextSyntax::toml, kDeepest, where + ": the configuration");
    try {
        return toml::parse(text, where);
    } catch (const toml::parse_error& error) {
        fail_input(fmt::format("{}: {}", place_of(error.source()), error.description()),
                   "a line of a configuration reads key = value, strings in quotes");
    }
}

void ConfigValue::fail(const std::string& what, const std::string& hint) const {
    fail_usage(fmt::format("{}: '{}': {}", place_of(node_->source()), key_, what), hint);
}

void ConfigValue::fail_type(const std::string& expected) const {
    std::ostringstream kind;
    kind << node_->type();
    fail(fmt::format("expected {}, got a value of type {}", expected, kind.str()),
         fmt::format("give {}", expected));
}

std::uint64_t ConfigValue::whole(std::uint64_t least, std::uint64_t most) const {
    if (!node_->is_integer()) fail_type("a whole number");
    const std::int64_t value = node_->as_integer()->get();
    if (value < 0 || static_cast<std::uint64_t>(value) < least ||
        static_cast<std::uint64_t>(value) > most)
        fail(fmt::format("{} is out of range", value),
             fmt::format("give a whole number from {} to {}", least, most));
    return static_cast<std::uint64_t>(value);
}

double ConfigValue::number(double least, double most, bool open) const {
    if (!node_->is_number()) fail_type("a number");
    const double value = *node_->value<double>();
    if (!std::isfinite(value) || value < least || value > most || (open && value == least))
        fail(fmt::format("{} is out of range", value),
             std::isinf(most) ? fmt::format("give a number {} {}", open ? "above" : "from", least)
             : open           ? fmt::format("give a number above {} and at most {}", least, most)
                              : fmt::format("give a number from {} to {}", least, most));
    return value;
}

bool ConfigValue::flag() const {
    if (!node_->is_boolean()) fail_type("true or false");
    return node_->as_boolean()->get();
}

std::string ConfigValue::text() const {
    if (!node_->is_string()) fail_type("a string");
    return node_->as_string()->get();
}

std::string ConfigValue::path() const {
    const std::filesystem::path path = text();
    const auto& source = node_->source().path;
    if (path.is_absolute() || !source || source->starts_with(kSet)) return path.string();
    return (std::filesystem::path(*source).parent_path() / path).string();
}

std::vector<std::string> ConfigValue::paths() const {
    if (!node_->is_array() || node_->as_array()->empty()) fail_type("a list of files");
    std::vector<std::string> values;
    for (const toml::node& entry : *node_->as_array())
        values.push_back(ConfigValue(key_, entry).path());
    return values;
}

std::vector<std::uint64_t> ConfigValue::wholes(std::uint64_t least, std::uint64_t most) const {
    if (!node_->is_array()) fail_type("a list of whole numbers");
    std::vector<std::uint64_t> values;
    for (const toml::node& entry : *node_->as_array())
        values.push_back(ConfigValue(key_, entry).whole(least, most));
    return values;
}

std::vector<std::vector<std::uint64_t>> ConfigValue::lists(std::uint64_t least,
                                                           std::uint64_t most) const {
    if (!node_->is_array()) fail_type("a list of lists of whole numbers");
    std::vector<std::vector<std::uint64_t>> values;
    for (const toml::node& entry : *node_->as_array())
        values.push_back(ConfigValue(key_, entry).wholes(least, most));
    return values;
}

ConfigDocument::ConfigDocument(const std::string& file, std::span<const std::string> sets,
                               std::string_view beside) {
    if (!file.empty()) layers_.push_back(parse_configuration(read_file(file), file));
    if (!file.empty() && !beside.empty()) layers_.back().erase(beside);
    for (const std::string& set : sets) layers_.push_back(parse_set(set));
}

const toml::table* ConfigDocument::table_of(const toml::table& layer,
                                            std::string_view section) const {
    if (section.empty()) return &layer;
    const toml::node* const node = layer.get(section);
    if (!node) return nullptr;
    if (!node->is_table())
        ConfigValue(std::string(section), *node)
            .fail("this is the name of a section, not of a value",
                  fmt::format("write [{0}] and its keys below, or {0}.KEY = VALUE", section));
    return node->as_table();
}

void ConfigDocument::read(std::string_view section, std::span<const ConfigKey> keys) const {
    for (const toml::table& layer : layers_)
        if (const toml::table* const table = table_of(layer, section))
            require_known(section, *table, keys);
    for (const ConfigKey& key : keys) {
        const toml::node* last = nullptr;
        for (const toml::table& layer : layers_)
            if (const toml::table* const table = table_of(layer, section))
                if (const toml::node* const node = table->get(key.name)) last = node;
        if (last) key.set(ConfigValue(dotted(section, key.name), *last));
    }
}

void ConfigDocument::read_each(std::string_view section, std::string_view key,
                               const std::function<void(const ConfigValue&)>& set) const {
    for (const toml::table& layer : layers_)
        if (const toml::table* const table = table_of(layer, section))
            if (const toml::node* const node = table->get(key))
                set(ConfigValue(dotted(section, key), *node));
}

void read_table(const std::string& prefix, const toml::table& table,
                std::span<const ConfigKey> keys) {
    require_known(prefix, table, keys);
    for (const ConfigKey& key : keys)
        if (const toml::node* const node = table.get(key.name))
            key.set(ConfigValue(dotted(prefix, key.name), *node));
}

}  // namespace pibinn::study
