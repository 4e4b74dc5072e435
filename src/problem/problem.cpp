#include "pibinn/problem.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

ProblemTraits Problem::traits() const {
    return {invariance, given_measurements, noise_std > 0 || !train_disturbance.none(),
            sparse,     domain.patch > 0,   std::string(to_string(domain.basis.kind()))};
}

void sense(const Problem& problem, Split split, ConstBatchView x, BatchView y, std::uint64_t seed,
           std::uint64_t first, ThreadPool& pool) {
    const bool train = split == Split::train;
    const Disturbance& disturbance = train ? problem.train_disturbance : problem.test_disturbance;
    if (disturbance.none()) {
        problem.op.apply(x, y, pool);
    } else {
        Batch disturbed(x.rows, x.cols);
        for (std::size_t i = 0; i < x.rows; ++i)
            std::copy_n(x.row(i).begin(), x.cols, disturbed.row(i).begin());
        disturb(disturbance, disturbed, seed,
                train ? Purpose::train_disturbance : Purpose::test_disturbance, first, pool);
        problem.op.apply(disturbed, y, pool);
    }
    add_noise(y, problem.noise_std, seed, train ? Purpose::train_noise : Purpose::test_noise, pool,
              first);
}

void require_some_signals(const Problem& problem, std::string_view where) {
    for (const DataSet* set : {&problem.train, &problem.test}) {
        const auto values = set->x.values();
        if (std::any_of(values.begin(), values.end(), [](float v) { return v != 0; })) continue;
        fail_input(
            fmt::format(
                "all {} {} signals of '{}' are zero{}", set->x.rows(),
                set == &problem.train ? "training" : "test", where,
                problem.domain.normalize == Normalize::none ? "" : " once they are normalised"),
            "nmse divides by their norm: give signals that are not zero");
    }
}

void measure_sets(Problem& problem, std::uint64_t seed, ThreadPool& pool) {
    for (const Split split : {Split::train, Split::test}) {
        DataSet& set = split == Split::train ? problem.train : problem.test;
        set.y = Batch(set.x.rows(), problem.op.rows());
        sense(problem, split, set.x, set.y, seed, 0, pool);
    }
}

}  // namespace pibinn
