#include "pibinn/problem.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

void add_residual(const Problem& problem, BatchView y, std::uint64_t seed, std::uint64_t first,
                  ThreadPool& pool) {
    const Batch& residual = problem.train_residual;
    pool.run_chunks(y.rows, 64, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const float sign =
                Stream(seed, Purpose::train_noise, first + i).bernoulli(0.5) ? 1.0F : -1.0F;
            const auto own =
                residual.row((first + i) % problem.all_train_rows() - problem.train_begin);
            const auto row = y.row(i);
            for (std::size_t j = 0; j < row.size(); ++j) row[j] += sign * own[j];
        }
    });
}

}  // namespace

ProblemTraits Problem::traits() const {
    ProblemTraits traits;
    traits.invariance = invariance;
    traits.given_measurements = given_measurements;
    traits.measurable = !given_measurements || unexplained <= kMostUnexplained;
    traits.own_signals = own_signals;
    traits.drawn = prior.has_value();
    traits.disturbed = noise_std > 0 || snr_db || !train_disturbance.none();
    traits.noise_varies = snr_db && snr_db->least_db < snr_db->most_db;
    traits.sparse = sparse;
    traits.patches = domain.patch > 0;
    traits.complex = !domain.one_real_vector();
    traits.basis = to_string(domain.basis.kind());
    return traits;
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
    const Purpose purpose = train ? Purpose::train_noise : Purpose::test_noise;
    if (train && problem.train_residual.rows() > 0)
        add_residual(problem, y, seed, first, pool);
    else if (problem.snr_db)
        add_noise(y, *problem.snr_db, seed, purpose, pool, first);
    else
        add_noise(y, problem.noise_std, seed, purpose, pool, first);
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

void require_measurements(const Problem& problem) {
    for (const DataSet* set : {&problem.train, &problem.test})
        for (std::size_t i = 0; i < set->y.rows(); ++i)
            for (const float v : set->y.row(i))
                if (!(std::abs(v) <= kLargestMeasurement))
                    fail_input(
                        fmt::format("a measurement of {} signal {} is {}, and {:g} is the most",
                                    set == &problem.train ? "training" : "test",
                                    set == &problem.train ? problem.train_begin + i : i, v,
                                    kLargestMeasurement),
                        "scale the operator, the signals or their noise down: any unit will do");
}

void measure_sets(Problem& problem, std::uint64_t seed, ThreadPool& pool) {
    for (const Split split : {Split::train, Split::test}) {
        DataSet& set = split == Split::train ? problem.train : problem.test;
        set.y = Batch(set.x.rows(), problem.op.rows());
        sense(problem, split, set.x, set.y, seed, split == Split::train ? problem.train_begin : 0,
              pool);
    }
    require_measurements(problem);
}

}  // namespace pibinn
