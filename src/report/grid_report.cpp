#include "report/grid_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "report/markdown.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kMostCurves = 10;

std::optional<double> number_of(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value)) return {};
    return value;
}

std::string grid_cell(const std::optional<Spread>& value) {
    return value ? decimal(*value, 2) : kNone;
}

std::string csv_mean(const std::optional<Spread>& value) {
    return value ? fmt::format("{:.8g},{:.4g}", value->mean, value->deviation) : ",";
}

/// The first key whose values are all numbers.
std::optional<std::size_t> numeric_key(const GridReport& report) {
    for (std::size_t k = 0; k < report.keys.size(); ++k)
        if (std::all_of(report.rows.begin(), report.rows.end(),
                        [&](const GridRow& row) { return number_of(row.values[k]).has_value(); }))
            return k;
    return {};
}

std::string others(const GridRow& row, std::size_t key) {
    std::string words;
    for (std::size_t k = 0; k < row.values.size(); ++k)
        if (k != key) words += (words.empty() ? "" : ", ") + row.values[k];
    return words;
}

}  // namespace

Table grid_table(const GridReport& report) {
    std::vector<std::string> titles = report.keys;
    titles.insert(titles.end(), {"train nmse dB", "test nmse dB", "test energy nmse dB",
                                 "test median dB", "bits (paper)", "bits (total)", "seconds"});
    const bool notes = std::any_of(report.rows.begin(), report.rows.end(),
                                   [](const GridRow& row) { return !row.note.empty(); });
    if (notes) titles.push_back("note");
    Table table = Table::of(titles);
    if (notes) table.columns.back().number = false;
    for (const GridRow& row : report.rows) {
        std::vector<std::string> cells = row.values;
        cells.insert(cells.end(),
                     {grid_cell(row.train_nmse_db), grid_cell(row.test_nmse_db),
                      grid_cell(row.test_energy_nmse_db), grid_cell(row.test_median_nmse_db),
                      grouped(row.bits_paper), grouped(row.bits_total), decimal(row.seconds, 1)});
        if (notes) cells.push_back(row.note.empty() ? kNone : row.note);
        table.add(std::move(cells));
    }
    return table;
}

std::string grid_csv(const GridReport& report) {
    std::string text;
    for (const std::string& key : report.keys) text += key + ",";
    text +=
        "seeds,train_nmse_db,train_nmse_db_std,test_nmse_db,test_nmse_db_std,test_energy_nmse_db,"
        "test_energy_nmse_db_std,test_median_nmse_db,test_median_nmse_db_std,bits_paper,bits_total,"
        "seconds,note,folder\n";
    for (const GridRow& row : report.rows) {
        for (const std::string& value : row.values) text += csv_word(value) + ",";
        text += fmt::format(
            "{},{},{},{},{},{},{},{:.4g},{},{}\n", row.test_nmse_db ? row.test_nmse_db->count : 0,
            csv_mean(row.train_nmse_db), csv_mean(row.test_nmse_db),
            csv_mean(row.test_energy_nmse_db), csv_mean(row.test_median_nmse_db), row.bits_paper,
            row.bits_total, row.seconds, csv_word(row.note), csv_word(row.folder));
    }
    return text;
}

std::optional<Figure> grid_figure(const GridReport& report) {
    const std::optional<std::size_t> key = numeric_key(report);
    if (!key) return {};
    Figure figure{"Test error", {}, "Mean over the seeds."};
    figure.plot.x.label = report.keys[*key];
    figure.plot.y.label = "test nmse (dB)";
    std::vector<Series>& curves = figure.plot.series;
    for (const GridRow& row : report.rows) {
        if (!row.test_nmse_db) continue;
        const std::string label = others(row, *key);
        auto curve = std::find_if(curves.begin(), curves.end(),
                                  [&](const Series& series) { return series.label == label; });
        if (curve == curves.end()) {
            if (curves.size() == kMostCurves) return {};
            Series series;
            series.label = label;
            series.style = Series::Style::line_points;
            series.color = curves.size();
            curves.push_back(std::move(series));
            curve = curves.end() - 1;
        }
        curve->x.push_back(*number_of(row.values[*key]));
        curve->y.push_back(row.test_nmse_db->mean);
    }
    figure.plot.height += 20 * curves.size();  // for the legend
    return figure;
}

std::string grid_page(const GridReport& report) {
    const std::vector<std::string> facts{
        fmt::format("{} combinations", report.rows.size()),
        report.seeds == 1 ? "one seed" : fmt::format("{} seeds", report.seeds), report.date,
        report.machine};
    std::string title;
    for (const std::string& key : report.keys) title += (title.empty() ? "" : ", ") + key;
    Page page("Study", title, facts);
    page.section("Results",
                 "Mean and deviation over the seeds; seconds of one training on one core.");
    page.table(grid_table(report));
    if (const std::optional<Figure> figure = grid_figure(report)) page.figures({&*figure, 1});
    page.section("How this was made");
    page.code(report.command);
    return page.html(fmt::format("pibinn {}", report.version));
}

}  // namespace pibinn
