#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/field_rows.hpp"
#include "report/pareto.hpp"

namespace pibinn {

namespace {

using Kind = FieldRow::Kind;

constexpr std::size_t kPublishedMark = 3;
// References that err this many dB more than every network would squeeze the others together.
constexpr double kRoomAbove = 1;
constexpr double kMostCost = 1e12;

/// A plot that drops what is off its scale and tells so.
struct Sketch {
    Plot plot;
    double worst_shown;
    std::vector<std::string> dropped = {};  ///< methods, and the depths of each
    std::vector<std::vector<std::size_t>> dropped_depths = {};

    /// Whether a row is drawn; otherwise the caption names it.
    bool shows(const std::string& name, const FieldRow& row) {
        if (row.energy_nmse_db.mean <= worst_shown) return true;
        const std::size_t place = place_of(dropped, name);
        dropped_depths.resize(dropped.size());
        if (row.layers > 0) place_of(dropped_depths[place], row.layers);
        return false;
    }
    std::string caption() const {
        if (dropped.empty()) return {};
        std::string names;
        for (std::size_t i = 0; i < dropped.size(); ++i) {
            names += (names.empty() ? "" : "; ") + dropped[i];
            if (!dropped_depths[i].empty())
                names += fmt::format(" at K = {}", fmt::join(dropped_depths[i], ", "));
        }
        return fmt::format("Above the scale, and not drawn: {}.", names);
    }
    /// The legend stays in one column as long as it fits the height.
    Figure figure(const std::string& heading, const std::string& words) {
        plot.width = 900;
        plot.height = std::max<std::size_t>(340, 120 + 22 * plot.series.size());
        plot.legend_beside = true;
        plot.y.label = "energy nmse (dB)";
        const std::string left_out = caption();
        return {heading, plot, words + (left_out.empty() ? "" : " ") + left_out};
    }
};

using Wanted = std::function<bool(const FieldRow&)>;

/// Scaled to the networks: what errs more than all of them is not drawn.
Sketch sketch(const FieldReport& report, const Wanted& wanted) {
    double worst = -std::numeric_limits<double>::infinity();
    for (const FieldRow& row : report.rows)
        if (row.kind == Kind::network && wanted(row))
            worst = std::max(worst, row.energy_nmse_db.mean);
    return {{}, worst + kRoomAbove};
}

/// One series per method and operator: its points, by rising x.
void add_series(Sketch& sketch, const FieldReport& report, Kind kind, const Wanted& wanted,
                const std::function<double(const FieldRow&)>& x, bool name_operator) {
    std::vector<std::string> names;
    std::vector<Series> found;
    for (const FieldRow& row : report.rows) {
        if (row.kind != kind || !wanted(row)) continue;
        const std::string name =
            name_operator ? fmt::format("{}, {}", row.method, operator_words(row.ensemble))
                          : row.method;
        if (!sketch.shows(name, row)) continue;
        const std::size_t place = place_of(names, name);
        if (place == found.size()) {
            found.push_back(
                {name, {}, {}, Series::Style::marks, kGrey, false, kFirstReferenceMark + place});
            if (kind == Kind::network) {
                found.back().style = Series::Style::line_points;
                found.back().color = place;
            }
        }
        found[place].x.push_back(x(row));
        found[place].y.push_back(row.energy_nmse_db.mean);
    }
    for (Series& series : found) {
        std::vector<std::size_t> order(series.x.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return series.x[a] < series.x[b]; });
        Series sorted = series;
        for (std::size_t i = 0; i < order.size(); ++i) {
            sorted.x[i] = series.x[order[i]];
            sorted.y[i] = series.y[order[i]];
        }
        sketch.plot.series.push_back(std::move(sorted));
    }
}

/// The best published figure at each x.
void add_published(Sketch& sketch, const std::vector<const FieldRow*>& best,
                   const std::function<double(const FieldRow&)>& x) {
    Series series{"best published, float, Gaussian", {}, {}, Series::Style::marks, kGrey};
    series.mark = kPublishedMark;
    for (const FieldRow* row : best)
        if (row && sketch.shows(row->method, *row)) {
            series.x.push_back(x(*row));
            series.y.push_back(row->energy_nmse_db.mean);
        }
    if (!series.x.empty()) sketch.plot.series.push_back(std::move(series));
}

double layers_of(const FieldRow& row) { return static_cast<double>(row.layers); }

Figure against_depth(const FieldReport& report, std::size_t n, const Snr& noise) {
    const std::vector<std::size_t> depths = depths_of(report, n, noise);
    const std::string first = operators_of(report).front();
    const Wanted wanted = [&](const FieldRow& row) {
        const bool own = row.kind == Kind::network || row.ensemble == first;
        return row.n == n && row.snr_db == noise && own && row.layers > 0 &&
               std::find(depths.begin(), depths.end(), row.layers) != depths.end();
    };
    Sketch s = sketch(report, wanted);
    s.plot.x = {"layers or iterations K", Axis::Scale::linear, {}, {}, true};
    add_series(s, report, Kind::network, wanted, layers_of, true);
    add_series(s, report, Kind::reference, wanted, layers_of, false);
    std::vector<const FieldRow*> published;
    for (const std::size_t layers : depths)
        published.push_back(best_published(report, n, layers, noise));
    add_published(s, published, layers_of);
    for (const FieldRow& row : report.rows)
        if (row.kind == Kind::bound && row.n == n && row.snr_db == noise && row.ensemble == first)
            s.plot.lines.push_back(
                {ReferenceLine::Direction::horizontal, row.energy_nmse_db.mean, "oracle, a bound"});
    return s.figure(fmt::format("Against depth, {} × {}, {}", report.m, n, snr_words(noise)),
                    fmt::format("References on the operator of {}.", operator_words(first)));
}

Figure against_noise(const FieldReport& report, std::size_t n, std::size_t layers) {
    const std::string first = operators_of(report).front();
    const std::vector<std::size_t> depths = depths_of(report, n);
    const Wanted wanted = [&](const FieldRow& row) {
        const bool network = row.kind == Kind::network && row.layers == layers;
        const bool to_the_end = row.kind != Kind::network && row.kind != Kind::published &&
                                row.ensemble == first &&
                                std::find(depths.begin(), depths.end(), row.layers) == depths.end();
        return row.n == n && row.snr_db && (network || to_the_end);
    };
    Sketch s = sketch(report, wanted);
    s.plot.x = {"signal-to-noise ratio (dB)", Axis::Scale::linear, {}, {}, true};
    const auto x = [](const FieldRow& row) { return *row.snr_db; };
    add_series(s, report, Kind::network, wanted, x, true);
    add_series(s, report, Kind::reference, wanted, x, false);
    std::vector<const FieldRow*> published;
    for (const Snr& noise : noises_of(report, n, layers))
        if (noise) published.push_back(best_published(report, n, layers, noise));
    add_published(s, published, x);
    Series oracle{"oracle, a bound", {}, {}, Series::Style::line, kGrey};
    for (const FieldRow& row : report.rows)
        if (row.kind == Kind::bound && wanted(row)) {
            oracle.x.push_back(x(row));
            oracle.y.push_back(row.energy_nmse_db.mean);
        }
    if (!oracle.x.empty()) s.plot.series.push_back(std::move(oracle));
    return s.figure(fmt::format("Against noise, {} × {}, {} layers", report.m, n, layers),
                    fmt::format("References on the operator of {}, until they converge or for 100 "
                                "iterations. Problems without noise are in the tables.",
                                operator_words(first)));
}

/// Error against what a method costs, at one noise.
Figure trade_figure(const FieldReport& report, std::size_t n, const Snr& noise,
                    const std::string& what, const std::string& axis,
                    const std::function<double(const FieldRow&)>& cost) {
    const Wanted wanted = [&](const FieldRow& row) {
        return row.measured() && row.n == n && row.snr_db == noise;
    };
    Sketch s = sketch(report, wanted);
    s.plot.x = {axis, Axis::Scale::log, {}, {}, false};
    std::vector<Trade> trades;
    for (const FieldRow& row : report.rows) {
        if (!wanted(row)) continue;
        trades.push_back({cost(row), row.energy_nmse_db.mean});
        // Marks do not stand on the axis.
        s.plot.x.min = std::min(s.plot.x.min.value_or(kMostCost), 0.7 * trades.back().cost);
    }
    Series front{"front of all", {}, {}, Series::Style::line, kGrey};
    for (const std::size_t i : pareto_front(trades))
        if (trades[i].error <= s.worst_shown) {
            front.x.push_back(trades[i].cost);
            front.y.push_back(trades[i].error);
        }
    s.plot.series.push_back(std::move(front));
    add_series(s, report, Kind::network, wanted, cost, true);
    add_series(s, report, Kind::reference, wanted, cost, false);
    return s.figure(
        fmt::format("Error against {}, {} × {}, {}", what, report.m, n, snr_words(noise)),
        "References stand once per operator and number of iterations.");
}

}  // namespace

std::vector<Figure> depth_figures(const FieldReport& report) {
    std::vector<Figure> figures;
    const std::vector<std::size_t> sizes = sizes_of(report);
    if (sizes.empty() || depths_of(report, sizes.front()).empty()) return figures;
    const std::size_t n = sizes.front();
    figures.push_back(against_depth(report, n, usual_noise(report)));
    figures.push_back(against_noise(report, n, depths_of(report, n).front()));
    return figures;
}

std::vector<Figure> trade_figures(const FieldReport& report) {
    std::vector<Figure> figures;
    const std::vector<std::size_t> sizes = sizes_of(report);
    if (sizes.empty() || depths_of(report, sizes.front()).empty()) return figures;
    const std::size_t n = sizes.front();
    std::vector<Snr> noises{usual_noise(report)};
    // And at the least noise that there is.
    for (const Snr& noise : noises_of(report, n, depths_of(report, n).front()))
        if (noise && noise > noises.front()) {
            noises.resize(1);
            noises.push_back(noise);
        }
    for (const Snr& noise : noises) {
        figures.push_back(
            trade_figure(report, n, noise, "size", "stored bits in all",
                         [](const FieldRow& row) { return static_cast<double>(row.bits); }));
        figures.push_back(trade_figure(report, n, noise, "latency", "latency of one signal (us)",
                                       [](const FieldRow& row) { return row.time.latency_us; }));
    }
    return figures;
}

}  // namespace pibinn
