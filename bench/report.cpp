#include "bench/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/machine.hpp"
#include "core/recovery_time.hpp"
#include "core/table.hpp"
#include "pibinn/error.hpp"
#include "study/timing.hpp"

namespace pibinn::bench {

namespace {

using nlohmann::ordered_json;

/// What the times of a bench are, and how they are shown.
struct Unit {
    const char* bench;
    std::string heading;
    const char* symbol;
    double microseconds;  ///< in one of them
};

Unit unit_of(const std::string& name) {
    if (name == "latency") return {"latency", kLatencyHeading, "us", 1};
    if (name == "throughput") return {"throughput", kBatchTimeHeading, "us", 1};
    if (name == "train") return {"train", "training, ms per epoch", "ms", 1000};
    if (name == "device") return {"device", "recovery on a device, us per signal", "us", 1};
    if (name == "device-train")
        return {"device-train", "training on a device, ms per step", "ms", 1000};
    fail_usage(fmt::format("no bench '{}'", name), "choose latency, throughput or train");
}

std::string network_text(const BenchResult& r) {
    std::string text = fmt::format("{}x{}x{}", r.m, r.n, r.layers);
    if (r.structure != "dense") text += ", " + r.structure;
    if (r.weights != "one-bit") text += ", " + r.weights;
    if (r.model != "random") text += ", " + r.model;
    return text;
}

std::string error_text(const BenchResult& r) {
    if (!r.peer) return "";
    if (r.ours_nmse_db && r.peer->nmse_db)
        return fmt::format("{:.1f} / {:.1f} dB", *r.ours_nmse_db, *r.peer->nmse_db);
    return r.peer->error ? fmt::format("{:.0e}", *r.peer->error) : "";
}

std::string table_of(const std::string& name, const std::vector<BenchResult>& results) {
    const Unit unit = unit_of(name);
    const bool tails = name == "latency";
    std::vector<std::string> titles{"network", "update", "density", "kernel", "batch", "threads"};
    titles.push_back(fmt::format("ours {}", unit.symbol));
    if (tails) titles.insert(titles.end(), {"p99", "max"});
    titles.insert(titles.end(),
                  {"peer", fmt::format("peer {}", unit.symbol), "ratio", "range", "error"});
    Table table = Table::of(std::move(titles));
    for (const BenchResult& r : results) {
        if (r.name != name) continue;
        const auto time = [&](double us) { return time_text(us / unit.microseconds); };
        std::vector<std::string> cells{network_text(r),
                                       r.update,
                                       fmt::format("{:.1f} %", 100 * r.density),
                                       r.kernel,
                                       std::to_string(r.batch),
                                       std::to_string(r.threads),
                                       time(r.ours_us)};
        if (tails)
            for (const double us : {r.ours_tail->p99, r.ours_tail->max}) cells.push_back(time(us));
        cells.push_back(r.peer ? r.peer->name : "none");
        cells.push_back(r.peer ? time(r.peer->us) : "");
        cells.push_back(r.peer ? fmt::format("{:.2f}", r.peer->ratio.median) : "");
        cells.push_back(
            r.peer ? fmt::format("{:.2f} .. {:.2f}", r.peer->ratio.least, r.peer->ratio.most) : "");
        cells.push_back(error_text(r));
        table.add(std::move(cells));
    }
    return fmt::format("{}: {}\n\n{}", unit.bench, unit.heading, table_text(table));
}

void add_tail(ordered_json& entry, const std::string& whose, const std::optional<Tail>& tail) {
    if (!tail) return;
    entry[whose + "_p99_us"] = tail->p99;
    entry[whose + "_max_us"] = tail->max;
}

ordered_json entry_of(const BenchResult& r) {
    ordered_json entry{{"name", r.name},
                       {"model", r.model},
                       {"structure", r.structure},
                       {"update", r.update},
                       {"weights", r.weights},
                       {"m", r.m},
                       {"n", r.n},
                       {"layers", r.layers},
                       {"batch", r.batch},
                       {"threads", r.threads},
                       {"density", r.density},
                       {"kernel", r.kernel},
                       {"ours_us", r.ours_us}};
    for (const char* key : {"peer", "peer_us", "ratio", "ratio_range", "error"})
        entry[key] = nullptr;
    add_tail(entry, "ours", r.ours_tail);
    if (r.ours_nmse_db) entry["ours_nmse_db"] = *r.ours_nmse_db;
    if (!r.peer) return entry;
    entry["peer"] = r.peer->name;
    entry["peer_us"] = r.peer->us;
    entry["ratio"] = r.peer->ratio.median;
    entry["ratio_range"] = {r.peer->ratio.least, r.peer->ratio.most};
    if (r.peer->error) entry["error"] = *r.peer->error;
    add_tail(entry, "peer", r.peer->tail);
    if (r.peer->nmse_db) entry["peer_nmse_db"] = *r.peer->nmse_db;
    return entry;
}

}  // namespace

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
    for (const BenchResult& r : results) list.push_back(entry_of(r));
    return {{"machine", machine_text()}, {"blas", blas_text()}, {"results", std::move(list)}};
}

}  // namespace pibinn::bench
