#include "study/grid_study.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/numbers.hpp"
#include "pibinn/error.hpp"
#include "pibinn/version.hpp"
#include "report/markdown.hpp"
#include "study/cell_study.hpp"
#include "study/config_document.hpp"
#include "study/config_train.hpp"
#include "study/grid.hpp"

namespace pibinn::study {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kManyCells = 1000;
constexpr const char* kGridSection = "grid";

std::size_t grid_seeds(const GridStudy& study) {
    if (study.seeds > 0) return study.seeds;
    const ConfigDocument document(study.file, study.settings, kGridSection);
    Config config = read_config(document);
    return read_train_config(document, config, true).seeds;
}

void require_few(const GridStudy& study, const Grid& grid, std::size_t seeds) {
    const std::size_t combinations = grid.size();
    if (study.many || combinations <= kManyCells / seeds) return;
    fail_usage(fmt::format("{}: {} combinations of {} seed(s) each are {} trainings", study.file,
                           grouped(combinations), seeds,
                           combinations > 1'000'000'000'000 ? "far too many"
                                                            : grouped(combinations * seeds)),
               "list fewer values, or say --yes to train them all");
}

GridRow make_grid_row(const Grid& grid, std::size_t i, const Study& cells, std::size_t seeds) {
    GridRow row;
    row.values = grid.values(i);
    row.folder = grid.folder(i);
    std::vector<const CellResult*> results;
    std::size_t failed = 0;
    for (std::size_t s = 0; s < seeds; ++s) {
        const CellResult& result = cells.result(i * seeds + s);
        if (result.failure.empty()) {
            results.push_back(&result);
        } else {
            ++failed;
            row.note = result.failure;
        }
    }
    if (failed > 0) row.note = fmt::format("{} of {} seeds failed: {}", failed, seeds, row.note);
    row.train_nmse_db = over_cells(results, "train_nmse_db");
    row.test_nmse_db = over_cells(results, "test_nmse_db");
    row.test_energy_nmse_db = over_cells(results, "test_energy_nmse_db");
    row.test_median_nmse_db = over_cells(results, "test_median_nmse_db");
    const auto mean = [&](const char* name) {
        const auto spread = over_cells(results, name);
        return spread ? spread->mean : 0.0;
    };
    row.bits_paper = static_cast<std::size_t>(mean("bits_paper"));
    row.bits_total = static_cast<std::size_t>(mean("bits_total"));
    row.seconds = mean("seconds");
    return row;
}

ordered_json mean_or_null(const std::optional<Spread>& value) {
    return value ? ordered_json{{"mean", value->mean}, {"std", value->deviation}} : ordered_json();
}

}  // namespace

const std::vector<std::string>& grid_files() {
    static const std::vector<std::string> names{"results.csv", "results.md", "results.json",
                                                "report.html", "study.json"};
    return names;
}

GridResult run_grid(const GridStudy& study, const ProgressSink& progress, ThreadPool& pool,
                    Communicator& ranks) {
    const Grid grid = read_grid(study.file);
    const std::size_t seeds = grid_seeds(study);
    require_few(study, grid, seeds);
    Study cells(study.folder, "the study of a grid", study.device);
    for (std::size_t i = 0; i < grid.size(); ++i) {
        std::vector<std::string> settings = study.settings;
        for (const std::string& setting : grid.settings(i)) settings.push_back(setting);
        for (std::size_t s = 0; s < seeds; ++s)
            cells.add({fmt::format("{}/seed-{}", grid.folder(i), s + 1), study.file, settings,
                       s + 1, kGridSection});
    }
    if (study.inputs_known) study.inputs_known(cells.inputs());
    GridResult result;
    result.cells = cells.size();
    result.finished = cells.train(progress, pool, ranks);
    result.done = cells.finished();
    if (!result.finished || !ranks.first()) return result;
    GridReport& report = result.report;
    for (const Grid::Axis& axis : grid.axes) report.keys.push_back(axis.key);
    for (std::size_t i = 0; i < grid.size(); ++i)
        report.rows.push_back(make_grid_row(grid, i, cells, seeds));
    report.seeds = seeds;
    report.machine = study.machine;
    report.date = study.date;
    report.command = study.command + " --out DIR";
    report.version = version();
    write_file(study.folder / "results.csv", grid_csv(report));
    write_file(study.folder / "results.md", table_markdown(grid_table(report)));
    write_file(study.folder / "report.html", grid_page(report));
    write_file(study.folder / "results.json", grid_json(report).dump(2) + "\n");
    return result;
}

ordered_json grid_json(const GridReport& report) {
    ordered_json rows = ordered_json::array();
    for (const GridRow& row : report.rows) {
        ordered_json values = ordered_json::object();
        for (std::size_t k = 0; k < report.keys.size(); ++k) values[report.keys[k]] = row.values[k];
        rows.push_back({{"values", values},
                        {"train_nmse_db", mean_or_null(row.train_nmse_db)},
                        {"test_nmse_db", mean_or_null(row.test_nmse_db)},
                        {"test_energy_nmse_db", mean_or_null(row.test_energy_nmse_db)},
                        {"test_median_nmse_db", mean_or_null(row.test_median_nmse_db)},
                        {"bits", {{"paper", row.bits_paper}, {"total", row.bits_total}}},
                        {"seconds", row.seconds},
                        {"note", row.note},
                        {"folder", row.folder}});
    }
    return {{"keys", report.keys},       {"seeds", report.seeds}, {"rows", rows},
            {"command", report.command}, {"date", report.date},   {"machine", report.machine},
            {"version", report.version}};
}

}  // namespace pibinn::study
