#include "bench/scaling_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/machine.hpp"
#include "core/table.hpp"

namespace pibinn::bench {

namespace {

using nlohmann::ordered_json;

double unit_cost(const ScalingResult& r) { return r.us / r.size; }

}  // namespace

std::string scaling_text(const std::vector<ScalingResult>& results) {
    Table table =
        Table::of({"axis", "size", "block", "layers", "batch", "us", "growth", "growth per unit"});
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

}  // namespace pibinn::bench
