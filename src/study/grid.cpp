#include "study/grid.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "core/file.hpp"
#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "study/config_document.hpp"
#include "study/config_keys.hpp"

namespace pibinn::study {

namespace {

constexpr std::size_t kMostCombinations = 1'000'000'000'000'000'000;
constexpr std::size_t kLongestName = 120;

std::string toml_text(const toml::node& node) {
    std::ostringstream text;
    node.visit([&](const auto& value) { text << value; });
    return text.str();
}

void require_key(const Grid::Axis& axis, const toml::node& node) {
    // The stages of a recipe are known when the recipe is.
    if (axis.key.starts_with("train.stage.")) return;
    const std::vector<KeyInfo> known = config_keys();
    std::vector<std::string> names;
    for (const KeyInfo& key : known)
        if (key.section != "train.stage")
            names.push_back(key.section.empty() ? key.name
                                                : fmt::format("{}.{}", key.section, key.name));
    if (std::find(names.begin(), names.end(), axis.key) != names.end()) return;
    fail_usage(
        fmt::format("{}: unknown key '{}'", place_of(node.source()), axis.key),
        hint_for_unknown(axis.key, std::vector<std::string_view>(names.begin(), names.end())));
}

void add_axes(Grid& grid, const std::string& prefix, const toml::table& table) {
    // By the order of the file: the table itself is sorted by name.
    std::vector<std::pair<std::string, const toml::node*>> entries;
    for (const auto& [name, node] : table) entries.emplace_back(name.str(), &node);
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        const auto &one = a.second->source().begin, &other = b.second->source().begin;
        return std::pair(one.line, one.column) < std::pair(other.line, other.column);
    });
    for (const auto& [name, node] : entries) {
        Grid::Axis axis{prefix.empty() ? name : fmt::format("{}.{}", prefix, name), {}, {}};
        if (node->is_table()) {
            add_axes(grid, axis.key, *node->as_table());
            continue;
        }
        require_key(axis, *node);
        const ConfigValue value("grid." + axis.key, *node);
        if (!node->is_array() || node->as_array()->empty())
            value.fail("expected a list of values", fmt::format("write {} = [..., ...]", axis.key));
        for (const toml::node& entry : *node->as_array()) {
            const std::string text = toml_text(entry);
            if (std::find(axis.values.begin(), axis.values.end(), text) != axis.values.end())
                value.fail(fmt::format("{} stands twice", text), "name each value once");
            axis.values.push_back(text);
            axis.words.push_back(entry.is_string() ? entry.as_string()->get() : text);
        }
        grid.axes.push_back(std::move(axis));
    }
}

}  // namespace

std::size_t Grid::size() const {
    std::size_t product = 1;
    for (const Axis& axis : axes) {
        if (axis.values.size() > kMostCombinations / product) return kMostCombinations;
        product *= axis.values.size();
    }
    return product;
}

std::vector<std::string> Grid::values(std::size_t i) const {
    std::vector<std::string> values(axes.size());
    for (std::size_t a = axes.size(); a-- > 0; i /= axes[a].values.size())
        values[a] = axes[a].words[i % axes[a].values.size()];
    return values;
}

std::vector<std::string> Grid::settings(std::size_t i) const {
    std::vector<std::string> settings(axes.size());
    for (std::size_t a = axes.size(); a-- > 0; i /= axes[a].values.size())
        settings[a] = fmt::format("{}={}", axes[a].key, axes[a].values[i % axes[a].values.size()]);
    return settings;
}

std::string Grid::folder(std::size_t i) const {
    std::string name;
    for (const std::string& setting : settings(i)) {
        name += name.empty() ? "" : ",";
        for (const char c : setting)
            if (std::isalnum(static_cast<unsigned char>(c)) ||
                std::string_view("=._-+").find(c) != std::string_view::npos)
                name += c;
            else if (c != '\'' && c != '"' && c != ' ')
                name += '_';
    }
    if (name.size() > kLongestName || name.front() == '.')
        return fmt::format("{}-{}", name.substr(0, kLongestName - 20), i);
    return name;
}

Grid read_grid(const std::string& file) {
    Grid grid;
    grid.file = file;
    const toml::table table = parse_configuration(read_file(file), file);
    const toml::node* const section = table.get("grid");
    if (!section || !section->is_table() || section->as_table()->empty())
        fail_usage(fmt::format("{}: there is no section [grid]", file),
                   "write [grid] and below it lists of values, such as model.layers = [5, 10]");
    add_axes(grid, "", *section->as_table());
    return grid;
}

}  // namespace pibinn::study
