#include "problem/draw_sets.hpp"

namespace pibinn {

void draw_sets(Problem& problem, std::size_t train, std::size_t test, std::uint64_t seed,
               ThreadPool& pool) {
    problem.signal_size = problem.column_norm = 1;
    const std::size_t n = problem.op.cols();
    problem.train.x = draw_signals(*problem.prior, train, n, seed, Purpose::train_signals, pool);
    problem.test.x = draw_signals(*problem.prior, test, n, seed, Purpose::test_signals, pool);
    measure_sets(problem, seed, pool);
}

}  // namespace pibinn
