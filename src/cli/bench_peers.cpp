#include "cli/bench_peers.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <bench/dense_peer.hpp>
#include <bench/fused_peer.hpp>

#include "cli/bench_turns.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/metrics.hpp"
#include "pibinn/omp.hpp"

namespace pibinn::cli {

namespace {

constexpr std::size_t kSolverSignals = 200;
// A batch has left the caches long before.
constexpr std::size_t kLayoutRows = 512;

/// A solver as a user would set it.
struct Solver {
    std::string name;
    std::function<Batch(ConstBatchView, ThreadPool&)> solve;
    double nmse_db = 0;
};

/// Tries the ladder from the cheapest on until one is as good as `wanted_db`; else the last.
template <class Rungs, class Make>
Solver cheapest(const Rungs& rungs, const DataSet& pairs, double wanted_db, ThreadPool& pool,
                Make&& make) {
    Solver solver;
    for (const auto& rung : rungs) {
        solver = make(rung);
        solver.nmse_db = measure(pairs.x, solver.solve(pairs.y, pool)).nmse_db;
        if (solver.nmse_db <= wanted_db) break;
    }
    return solver;
}

Solver fista(const Operator& op, const DataSet& pairs, double wanted_db, ThreadPool& pool) {
    static constexpr std::array<std::size_t, 9> iterations{10,  20,  40,   80,  160,
                                                           320, 640, 1280, 2560};
    static constexpr std::array lambdas{0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001};
    return cheapest(iterations, pairs, wanted_db, pool, [&](std::size_t most) {
        LassoOptions options;
        options.max_iterations = most;
        options.lambda = best_lambda(op, pairs, lambdas, options, pool).lambda;
        return Solver{fmt::format("fista, {} iterations", most),
                      [&op, options](ConstBatchView y, ThreadPool& threads) {
                          return solve_lasso(op, y, options, threads).x;
                      }};
    });
}

Solver omp(const Operator& op, const DataSet& pairs, double wanted_db, ThreadPool& pool) {
    static constexpr std::array tolerances{0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5};
    const auto solver = std::make_shared<const OmpSolver>(op, pool);
    return cheapest(tolerances, pairs, wanted_db, pool, [&](double tolerance) {
        OmpOptions options;
        options.tolerance = tolerance;
        return Solver{fmt::format("omp, residual {}", tolerance),
                      [solver, options](ConstBatchView y, ThreadPool& threads) {
                          return solver->solve(y, options, threads).x;
                      }};
    });
}

}  // namespace

Peers::Peers(const RecoverCase& c, std::size_t rows, std::size_t threads, ConstBatchView ours)
    : network_(network_of(c.model)) {
    const ConstBatchView sample = c.y.view().row_range(0, std::min(rows, kLayoutRows));
    const auto add = [&](const char* name, std::unique_ptr<bench::RecoveryPeer> peer) {
        Batch x(ours.rows, ours.cols);
        for (std::size_t at = 0; at < ours.rows; at += rows) {
            const std::size_t to = std::min(at + rows, ours.rows);
            peer->recover(c.y.view().row_range(at, to), x.view().row_range(at, to), 0);
        }
        const double error = relative_difference({ours.data, x.size()}, x.values());
        entries_.push_back({name, std::move(peer), error});
    };
    add("openblas",
        std::make_unique<bench::DensePeer>(network_, bench::openblas_product, threads, sample));
    add("eigen",
        std::make_unique<bench::DensePeer>(network_, bench::eigen_product, threads, sample));
    add("float-fused", std::make_unique<bench::FusedPeer>(network_, threads));
}

std::vector<BenchResult> bench_solvers(const RecoverCase& c, const PackedModel& packed,
                                       const BenchResult& ours, double seconds) {
    ThreadPool one(1);
    const std::size_t count = std::min(kSolverSignals, c.x.rows());
    DataSet pairs{Batch(count, c.x.cols()), Batch(count, c.y.cols())};
    std::copy_n(c.x.data(), pairs.x.size(), pairs.x.data());
    std::copy_n(c.y.data(), pairs.y.size(), pairs.y.data());
    const double ours_db = measure(pairs.x, packed.recover(pairs.y, one)).nmse_db;
    std::vector<BenchResult> results;
    for (const auto choose : {&fista, &omp}) {
        const Solver solver = choose(c.model.op, pairs, ours_db, one);
        const std::array turns{processor_runs([&] { packed.recover(pairs.y, one); }),
                               processor_runs([&] { solver.solve(pairs.y, one); })};
        const auto times = take_turns(seconds, turns);
        BenchResult result = ours;
        result.batch = count;
        result.ours_us = times[0].median() / static_cast<double>(count);
        result.peer = solver.name;
        result.peer_us = times[1].median() / static_cast<double>(count);
        result.ratio = ratio(times[1], times[0]);
        result.error.reset();
        result.ours_nmse_db = ours_db;
        result.peer_nmse_db = solver.nmse_db;
        results.push_back(result);
    }
    return results;
}

}  // namespace pibinn::cli
