#include "cli/bench_report.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include <cblas.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/table.hpp"

namespace pibinn::cli {

namespace {

using nlohmann::ordered_json;

/// Three digits that matter.
std::string time_text(double value) {
    return fmt::format("{:.{}f}", value, value < 10 ? 2 : (value < 100 ? 1 : 0));
}

std::string error_text(const BenchResult& r) {
    if (r.ours_nmse_db) return fmt::format("{:.1f} / {:.1f} dB", *r.ours_nmse_db, *r.peer_nmse_db);
    return r.error ? fmt::format("{:.0e}", *r.error) : "";
}

std::string table_of(const std::string& name, const std::vector<BenchResult>& results) {
    const bool train = name == "train";
    const bool latency = name == "latency";
    const char* const unit = train ? "ms" : "us";
    std::vector<std::string> titles{"network",
                                    "update",
                                    "density",
                                    "kernel",
                                    "batch",
                                    "threads",
                                    fmt::format("ours {}", unit),
                                    "peer",
                                    fmt::format("peer {}", unit),
                                    "ratio",
                                    "error"};
    if (latency) titles.insert(titles.begin() + 7, {"p99", "max"});
    Table table = Table::of(std::move(titles));
    for (const BenchResult& r : results) {
        if (r.name != name) continue;
        const double divisor = train ? 1000 : 1;
        std::vector<std::string> cells{
            fmt::format("{}x{}x{}{}", r.m, r.n, r.layers, r.model == "random" ? "" : ", trained"),
            r.update,
            fmt::format("{:.1f} %", 100 * r.density),
            r.kernel,
            std::to_string(r.batch),
            std::to_string(r.threads),
            time_text(r.ours_us / divisor),
            r.peer,
            time_text(r.peer_us / divisor),
            fmt::format("{:.2f}", r.ratio),
            error_text(r)};
        if (latency)
            cells.insert(cells.begin() + 7,
                         {time_text(r.ours_tail->p99), time_text(r.ours_tail->max)});
        table.add(std::move(cells));
    }
    const char* const what = train ? "an epoch of training" : "recovering one signal";
    return fmt::format("{}: {}\n\n{}", name,
                       name == "throughput" ? "recovering a batch, time of each signal" : what,
                       table_text(table));
}

double unit_cost(const ScalingResult& r) { return r.us / r.size; }

}  // namespace

std::string machine_text() {
    std::ifstream info("/proc/cpuinfo");
    std::string name = "unknown processor";
    for (std::string text; std::getline(info, text);)
        if (text.starts_with("model name")) {
            name = text.substr(text.find(':') + 2);
            break;
        }
    return fmt::format("{}, {} cores", name, std::thread::hardware_concurrency());
}

std::string blas_text() {
    return fmt::format("{} ({})", openblas_get_config(), openblas_get_corename());
}

std::string results_text(const std::vector<BenchResult>& results) {
    std::vector<std::string> names;
    for (const BenchResult& r : results)
        if (std::find(names.begin(), names.end(), r.name) == names.end()) names.push_back(r.name);
    std::string text;
    for (const std::string& name : names) {
        if (!text.empty()) text += '\n';
        text += table_of(name, results);
    }
    return text;
}

ordered_json results_json(const std::vector<BenchResult>& results) {
    ordered_json list = ordered_json::array();
    for (const BenchResult& r : results) {
        ordered_json entry{{"name", r.name},
                           {"model", r.model},
                           {"update", r.update},
                           {"weights", r.weights},
                           {"m", r.m},
                           {"n", r.n},
                           {"layers", r.layers},
                           {"batch", r.batch},
                           {"threads", r.threads},
                           {"density", r.density},
                           {"kernel", r.kernel},
                           {"ours_us", r.ours_us},
                           {"peer", r.peer},
                           {"peer_us", r.peer_us},
                           {"ratio", r.ratio}};
        entry["error"] = r.error ? ordered_json(*r.error) : ordered_json();
        const auto add_tail = [&](const std::string& whose, const std::optional<Tail>& tail) {
            if (!tail) return;
            entry[whose + "_p99_us"] = tail->p99;
            entry[whose + "_max_us"] = tail->max;
        };
        add_tail("ours", r.ours_tail);
        add_tail("peer", r.peer_tail);
        if (r.ours_nmse_db) {
            entry["ours_nmse_db"] = *r.ours_nmse_db;
            entry["peer_nmse_db"] = *r.peer_nmse_db;
        }
        list.push_back(std::move(entry));
    }
    return {{"machine", machine_text()}, {"blas", blas_text()}, {"results", std::move(list)}};
}

std::string scaling_text(const std::vector<ScalingResult>& results) {
    Table table = Table::of({"axis", "size", "block", "layers", "batch", "us", "of the first",
                             "cost of a unit, of the first"});
    const ScalingResult* first = nullptr;
    for (const ScalingResult& r : results) {
        if (first == nullptr || first->axis != r.axis) first = &r;
        table.add({r.axis, fmt::format("{:.0f}", r.size), fmt::format("{}x{}", r.m, r.n),
                   std::to_string(r.layers), std::to_string(r.batch), time_text(r.us),
                   fmt::format("{:.1f}", r.us / first->us),
                   fmt::format("{:.2f}", unit_cost(r) / unit_cost(*first))});
    }
    return table_text(table);
}

ordered_json scaling_json(const std::vector<ScalingResult>& results) {
    ordered_json list = ordered_json::array();
    for (const ScalingResult& r : results)
        list.push_back({{"name", "scaling"},
                        {"axis", r.axis},
                        {"size", r.size},
                        {"m", r.m},
                        {"n", r.n},
                        {"layers", r.layers},
                        {"batch", r.batch},
                        {"blocks", r.blocks},
                        {"ours_us", r.us}});
    return {{"machine", machine_text()}, {"blas", blas_text()}, {"results", std::move(list)}};
}

Plot scaling_plot(const std::vector<ScalingResult>& results) {
    Plot plot;
    plot.title = "Cost of recovery against size";
    plot.x = {"size, in multiples of the smallest", Axis::Scale::log, {}, {}, false};
    plot.y = {"time, in multiples of the smallest", Axis::Scale::log, {}, {}, false};
    Series linear{"linear", {}, {}, Series::Style::line, 0, true, 0};
    const ScalingResult* first = nullptr;
    double most = 1;
    for (const ScalingResult& r : results) {
        if (first == nullptr || first->axis != r.axis) {
            first = &r;
            plot.series.push_back(
                {r.axis, {}, {}, Series::Style::line_points, plot.series.size() + 1, false, 0});
        }
        most = std::max(most, r.size / first->size);
        plot.series.back().x.push_back(r.size / first->size);
        plot.series.back().y.push_back(r.us / first->us);
    }
    linear.x = linear.y = {1, most};
    plot.series.insert(plot.series.begin(), std::move(linear));
    return plot;
}

}  // namespace pibinn::cli
