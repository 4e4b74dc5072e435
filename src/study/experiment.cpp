#include "study/experiment.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "study/cell_result.hpp"
#include "study/config_document.hpp"

namespace pibinn::study {

namespace {

using Value = ConfigValue;

struct EmbeddedFile {
    std::string_view id;
    std::string_view text;
};

constexpr EmbeddedFile kEmbedded[] = {
#include <generated/experiments.inc>
};
constexpr EmbeddedFile kConfigurations[] = {
#include <generated/configurations.inc>
};

/// As the paper has them; files that are not named here come after.
constexpr std::array<std::string_view, 15> kOrder{
    "table1", "samples",    "bits",          "layers",         "timing",
    "scale",  "large",      "schemes-large", "schemes-images", "overlap",
    "real",   "delta-hard", "delta-soft",    "delta-images",   "depths"};

std::vector<std::string> strings(const Value& value) {
    if (!value.node().is_array()) value.fail("expected a list of strings", "write [\"...\"]");
    std::vector<std::string> list;
    for (const toml::node& entry : *value.node().as_array())
        list.push_back(Value(value.key(), entry).text());
    return list;
}

double any_number(const Value& value) { return value.number(-1e300, 1e300); }

Need parse_need(std::string_view word) {
    static constexpr NameTable<Need, 3> names{
        {{Need::images, "images"}, {Need::eeg, "eeg"}, {Need::gpu, "gpu"}}};
    return parse_name(names, word, "need");
}

ConfigKey key(std::string_view name, std::function<void(const Value&)> set) {
    return {name, "", "", "", std::move(set)};
}
ConfigKey text_key(std::string_view name, std::string& to) {
    return key(name, [&to](const Value& v) { to = v.text(); });
}
ConfigKey list_key(std::string_view name, std::vector<std::string>& to) {
    return key(name, [&to](const Value& v) { to = strings(v); });
}

/// Calls read(table) for each table of [[name]].
template <class Read>
ConfigKey tables_key(std::string_view name, Read read) {
    return key(name, [read](const Value& value) {
        if (!value.node().is_array()) value.fail("expected tables", "write [[...]] above each");
        for (const toml::node& entry : *value.node().as_array()) {
            if (!entry.is_table()) value.fail("expected tables", "write [[...]] above each");
            read(*entry.as_table());
        }
    });
}

std::map<std::string, double> published_numbers(const Value& value) {
    if (!value.node().is_table()) value.fail("expected a table", "write { test_nmse_db = -5 }");
    std::map<std::string, double> numbers;
    for (const auto& [name, node] : *value.node().as_table()) {
        const std::string quantity(name.str());
        numbers[quantity] = any_number(Value(quantity, node));
    }
    for (const auto& [name, number] : numbers) find_quantity(name, value.key());
    return numbers;
}

void add_settings(const toml::table& table, const std::string& section,
                  std::vector<std::string>& settings) {
    for (const auto& [name, node] : table) {
        const std::string path = section + std::string(name.str());
        if (node.is_table()) {
            add_settings(*node.as_table(), path + ".", settings);
        } else {
            std::ostringstream text;
            node.visit([&](const auto& value) { text << value; });
            settings.push_back(path + "=" + text.str());
        }
    }
}

/// A configuration that the program carries, such as "configs/fourier", as settings.
std::vector<std::string> carried_settings(const Value& value) {
    const std::string name = value.text();
    for (const EmbeddedFile& file : kConfigurations)
        if (file.id == name) {
            std::vector<std::string> settings;
            add_settings(parse_configuration(std::string(file.text), name), "", settings);
            return settings;
        }
    value.fail(fmt::format("there is no experiments/{}.toml", name),
               "name a file of experiments/ without its ending");
}

ExperimentRow read_row(const toml::table& table) {
    ExperimentRow row;
    std::vector<std::string> carried;
    const std::vector<ConfigKey> keys{
        text_key("name", row.name),
        text_key("label", row.label),
        key("at", [&](const Value& v) { row.at = any_number(v); }),
        key("config", [&](const Value& v) { carried = carried_settings(v); }),
        list_key("set", row.settings),
        list_key("paper", row.paper_settings),
        list_key("default", row.default_settings),
        list_key("recipes", row.recipes),
        key("published", [&](const Value& v) { row.published = published_numbers(v); }),
        key("needs", [&](const Value& v) { row.need = v.word(parse_need); }),
        text_key("of", row.of),
        text_key("undetermined", row.undetermined),
        text_key("why", row.why),
        text_key("judged", row.judged),
        key("most_seeds", [&](const Value& v) { row.most_seeds = v.whole(1); }),
        key("quick", [&](const Value& v) { row.quick = v.flag(); })};
    read_table("row", table, keys);
    row.settings.insert(row.settings.begin(), carried.begin(), carried.end());
    if (row.label.empty()) row.label = row.name;
    return row;
}

ExperimentSeries read_series(const toml::table& table) {
    ExperimentSeries series;
    const std::vector<ConfigKey> keys{
        text_key("label", series.label), list_key("rows", series.rows),
        text_key("recipe", series.recipe), text_key("quantity", series.quantity),
        text_key("curve", series.curve)};
    read_table("figure.series", table, keys);
    return series;
}

ExperimentFigure read_figure(const toml::table& table) {
    ExperimentFigure figure;
    const std::vector<ConfigKey> keys{
        text_key("name", figure.name),
        text_key("heading", figure.heading),
        text_key("caption", figure.caption),
        text_key("x", figure.x),
        text_key("y", figure.y),
        key("line", [&](const Value& v) { figure.line = any_number(v); }),
        tables_key("series",
                   [&](const toml::table& t) { figure.series.push_back(read_series(t)); })};
    read_table("figure", table, keys);
    return figure;
}

ExperimentClaim read_claim(const toml::table& table) {
    ExperimentClaim claim;
    const std::vector<ConfigKey> keys{
        text_key("text", claim.text),
        text_key("left", claim.left),
        text_key("recipe", claim.recipe),
        text_key("quantity", claim.quantity),
        key("relation",
            [&](const Value& v) {
                static constexpr NameTable<bool, 2> names{{{true, "below"}, {false, "above"}}};
                claim.below =
                    v.word([](std::string_view w) { return parse_name(names, w, "relation"); });
            }),
        list_key("right", claim.right),
        key("value", [&](const Value& v) { claim.value = any_number(v); }),
        key("factor", [&](const Value& v) { claim.factor = any_number(v); }),
        key("margin", [&](const Value& v) { claim.margin = any_number(v); }),
        text_key("why", claim.why)};
    read_table("claim", table, keys);
    return claim;
}

/// Names that lead nowhere are found when the file is read, not when the page is made.
void require_consistent(const Experiment& e, const std::string& where) {
    const auto require = [&](bool fine, const std::string& what) {
        if (!fine) fail_input(fmt::format("{}: {}", where, what), "see the other experiments");
    };
    require(!e.title.empty() && !e.protocol.empty(), "title and protocol are missing");
    require(!e.shown.empty(), "quantities are missing");
    for (const std::string& name : e.shown) find_quantity(name, where);
    require(
        e.judged.empty() || std::find(e.shown.begin(), e.shown.end(), e.judged) != e.shown.end(),
        fmt::format("judged quantity '{}' is not shown", e.judged));
    for (const ExperimentRow& row : e.rows) {
        require(!row.name.empty(), "a row has no name");
        require(std::count_if(e.rows.begin(), e.rows.end(),
                              [&](const ExperimentRow& r) { return r.name == row.name; }) == 1,
                fmt::format("row '{}' stands twice", row.name));
        for (const std::string& recipe : row.recipes)
            require(recipe == kPaper || recipe == kDefault,
                    fmt::format("row '{}': unknown recipe '{}'", row.name, recipe));
    }
    for (const ExperimentFigure& figure : e.figures)
        for (const ExperimentSeries& series : figure.series) {
            require(!series.rows.empty(), "a series has no rows");
            require(series.curve.empty() != series.quantity.empty(),
                    "a series has a quantity or a curve");
            require(series.curve.empty() || series.rows.size() == 1, "a curve is of one row");
            for (const std::string& name : series.rows) e.row(name);
        }
    for (const ExperimentClaim& claim : e.claims) {
        e.row(claim.left);
        find_quantity(claim.quantity, where);
        for (const std::string& name : claim.right) e.row(name);
        require(claim.right.empty() == claim.value.has_value(), "a claim has rows or a value");
    }
}

}  // namespace

const ExperimentRow& Experiment::row(const std::string& name) const {
    for (const ExperimentRow& row : rows)
        if (row.name == name) return row;
    std::vector<std::string_view> names;
    for (const ExperimentRow& row : rows) names.push_back(row.name);
    fail_usage(fmt::format("{} has no row '{}'", id, name), hint_for_unknown(name, names));
}

Experiment read_experiment(std::string id, const std::string& text, const std::string& where) {
    Experiment e;
    e.id = std::move(id);
    const toml::table table = parse_configuration(text, where);
    const std::vector<ConfigKey> keys{
        text_key("title", e.title),
        text_key("source", e.source),
        text_key("protocol", e.protocol),
        list_key("open", e.open),
        list_key("differs", e.differs),
        list_key("set", e.settings),
        list_key("paper", e.paper_settings),
        list_key("default", e.default_settings),
        list_key("quick", e.quick_settings),
        list_key("quantities", e.shown),
        text_key("judged", e.judged),
        key("extra", [&](const Value& v) { e.extra = v.flag(); }),
        key("most_seeds", [&](const Value& v) { e.most_seeds = v.whole(1); }),
        tables_key("row", [&](const toml::table& t) { e.rows.push_back(read_row(t)); }),
        tables_key("figure", [&](const toml::table& t) { e.figures.push_back(read_figure(t)); }),
        tables_key("claim", [&](const toml::table& t) { e.claims.push_back(read_claim(t)); })};
    read_table("", table, keys);
    require_consistent(e, where);
    return e;
}

std::vector<std::string> experiment_ids() {
    std::vector<std::string> ids;
    for (const EmbeddedFile& file : kEmbedded) ids.emplace_back(file.id);
    const auto place = [](const std::string& id) {
        return std::find(kOrder.begin(), kOrder.end(), id) - kOrder.begin();
    };
    std::stable_sort(ids.begin(), ids.end(), [&](const std::string& a, const std::string& b) {
        return place(a) < place(b);
    });
    return ids;
}

Experiment load_experiment(const std::string& id) {
    for (const EmbeddedFile& file : kEmbedded)
        if (file.id == id)
            return read_experiment(id, std::string(file.text),
                                   fmt::format("experiments/{}.toml", id));
    const std::vector<std::string> ids = experiment_ids();
    std::string all;
    for (const std::string& known : ids) all += (all.empty() ? "" : ", ") + known;
    fail_usage(fmt::format("unknown experiment '{}'", id),
               fmt::format("choose from {}, field", all));
}

}  // namespace pibinn::study
