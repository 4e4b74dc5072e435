#include "bench/solver_peers.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "bench/matchup.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/metrics.hpp"
#include "pibinn/omp.hpp"

namespace pibinn::bench {

namespace {

constexpr std::size_t kSolverSignals = 200;

/// A solver as a user would set it.
struct Solver {
    std::string name;
    std::function<Batch(ConstBatchView, ThreadPool&)> solve;
    double nmse_db = 0;
};

/// The first rung of the ladder that is as good as `wanted_db`, otherwise the last.
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

std::vector<BenchResult> bench_solvers(const RecoveryCase& c, const OurRecovery& ours,
                                       const BenchResult& described, double seconds) {
    ThreadPool one(1);
    const std::size_t count = std::min(kSolverSignals, c.x.rows());
    DataSet pairs{Batch(count, c.x.cols()), Batch(count, c.y.cols())};
    std::copy_n(c.x.data(), pairs.x.size(), pairs.x.data());
    std::copy_n(c.y.data(), pairs.y.size(), pairs.y.data());
    BenchResult row = described;
    row.batch = count;
    row.ours_nmse_db = measure(pairs.x, ours.recover(pairs.y, one)).nmse_db;
    std::vector<BenchResult> results;
    for (const auto choose : {&fista, &omp}) {
        const Solver solver = choose(c.model.op, pairs, *row.ours_nmse_db, one);
        Matchup matchup(row, processor_runs([&] { ours.recover(pairs.y, one); }));
        matchup.add_peer(solver.name, std::nullopt,
                         processor_runs([&] { solver.solve(pairs.y, one); }));
        BenchResult result = matchup.run(seconds, {static_cast<double>(count), false}).front();
        result.peer->nmse_db = solver.nmse_db;
        results.push_back(std::move(result));
    }
    return results;
}

}  // namespace pibinn::bench
