#include <algorithm>
#include <memory>

#include "bench/benches.hpp"
#include "bench/recovery_case.hpp"
#include "bench/rounds.hpp"
#include "pibinn/packed_model.hpp"

namespace pibinn::bench {

namespace {

/// One point of a curve: a model and the batch it recovers.
struct Point {
    RecoveryCase recovery_case;
    std::unique_ptr<PackedModel> packed;
};

Structure structure_of(const ScalingResult& at) {
    if (at.axis == "repetitions") return Structure::repeated(at.m, at.n, at.blocks);
    if (at.axis != "blocks") return Structure::dense(at.m, at.n);
    const std::vector<std::pair<std::size_t, std::size_t>> shapes(at.blocks, {at.m, at.n});
    return Structure::blocks(shapes);
}

/// The points of all curves. Batches are whole tiles, except on the axis `batch`.
std::vector<ScalingResult> all_points(bool large) {
    std::vector<ScalingResult> points;
    const auto add = [&](const char* axis, std::size_t m, std::size_t layers, std::size_t batch,
                         std::size_t blocks, std::size_t size) {
        points.push_back({axis, m, 2 * m, layers, batch, blocks, static_cast<double>(size), 0});
    };
    for (const std::size_t layers : {5, 10, 20, 40}) add("layers", 50, layers, 256, 1, layers);
    for (const std::size_t m : {50, 128, 256, 512, 1024, 2048})
        if (m <= 256 || large) add("links", m, 10, 64, 1, 2 * m * m * 10);
    for (const std::size_t rows : {1, 4, 16, 64, 256, 1024, 4096})
        add("batch", 50, 20, rows, 1, rows);
    for (const std::size_t blocks : {1, 4, 10, 30, 100}) add("blocks", 50, 20, 64, blocks, blocks);
    for (const std::size_t blocks : {1, 4, 10, 30, 100})
        add("repetitions", 50, 20, 64, blocks, blocks);
    return points;
}

}  // namespace

std::vector<ScalingResult> bench_scaling(const BenchOptions& options,
                                         const ProgressSink& progress) {
    ThreadPool all(0);
    ThreadPool one(1);
    std::vector<ScalingResult> results = all_points(options.large);
    std::size_t done = 0;
    for (auto begin = results.begin(); begin != results.end();) {
        const auto end = std::find_if(begin, results.end(), [&](const ScalingResult& other) {
            return other.axis != begin->axis;
        });
        // The points of a curve take turns, so that other work on the machine bends none of them.
        std::vector<Point> points;
        for (auto at = begin; at != end; ++at) {
            points.push_back({random_case(structure_of(*at), at->layers, Update::plain(), kDensity,
                                          at->batch, all),
                              nullptr});
            points.back().packed = std::make_unique<PackedModel>(points.back().recovery_case.model,
                                                                 options.kernels.front());
            progress({"bench scaling", ++done, results.size(), at->axis});
        }
        std::vector<Turn> turns;
        for (Point& point : points)
            turns.push_back(processor_runs(
                [&] { point.packed->recover_coefficients(point.recovery_case.y, one); }));
        const auto times = run_rounds(options.seconds, turns);
        for (std::size_t i = 0; i < points.size(); ++i)
            begin[static_cast<std::ptrdiff_t>(i)].us = times[i].median();
        begin = end;
    }
    return results;
}

}  // namespace pibinn::bench
