#include "pibinn/signals.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "problem/random_mask.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kRowsPerTask = 64;

Structure structure_of(const SyntheticSpec& spec, std::uint64_t seed) {
    switch (spec.structure) {
        case StructureKind::dense:
            return Structure::dense(spec.m, spec.n);
        case StructureKind::repeated:
            return Structure::repeated(spec.m, spec.n, spec.repeat);
        case StructureKind::blocks: {
            if (!spec.blocks.empty()) return Structure::blocks(spec.blocks);
            const std::vector<std::pair<std::size_t, std::size_t>> shapes(spec.repeat,
                                                                          {spec.m, spec.n});
            return Structure::blocks(shapes);
        }
        case StructureKind::mask:
            break;
    }
    return random_mask(spec.m, spec.n, spec.mask_density, seed);
}

}  // namespace

Batch draw_signals(const SparsePrior& prior, std::size_t count, std::size_t n, std::uint64_t seed,
                   Purpose purpose, ThreadPool& pool) {
    if (!(prior.density > 0.0 && prior.density <= 1.0))
        fail_usage(fmt::format("density {} is not in (0, 1]", prior.density),
                   "give the share of non-zero entries, 0.05 for example");
    for (std::uint32_t j : prior.support)
        if (j >= n)
            fail_usage(fmt::format("support entry {} is not below n = {}", j, n),
                       "entries count from 0");
    if (n == 0) fail_usage("signals of 0 entries", "give at least one signal entry");
    Batch x(count, n);
    pool.run_chunks(count, kRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Stream stream(seed, purpose, i);
            const auto row = x.row(i);
            if (!prior.support.empty()) {
                for (std::uint32_t j : prior.support) row[j] = static_cast<float>(stream.normal());
                continue;
            }
            bool any = false;
            for (float& v : row)
                if (stream.bernoulli(prior.density)) {
                    v = static_cast<float>(stream.normal());
                    any = true;
                }
            if (!any) {
                const std::uint32_t j = stream.below(static_cast<std::uint32_t>(n));
                row[j] = static_cast<float>(stream.normal());
            }
        }
    });
    return x;
}

void add_noise(BatchView y, double noise_std, std::uint64_t seed, Purpose purpose, ThreadPool& pool,
               std::uint64_t first) {
    if (!(noise_std >= 0 && std::isfinite(noise_std)))
        fail_usage(fmt::format("noise_std {} is not a number from 0 on", noise_std),
                   "give 0 for no noise");
    if (noise_std == 0) return;
    pool.run_chunks(y.rows, kRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Stream stream(seed, purpose, first + i);
            for (float& v : y.row(i)) v += static_cast<float>(noise_std * stream.normal());
        }
    });
}

void sense(const Problem& problem, Part part, ConstBatchView x, BatchView y, std::uint64_t seed,
           std::uint64_t first, ThreadPool& pool) {
    const bool train = part == Part::train;
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

void sense_sets(Problem& problem, std::uint64_t seed, ThreadPool& pool) {
    for (const Part part : {Part::train, Part::test}) {
        DataSet& set = part == Part::train ? problem.train : problem.test;
        set.y = Batch(set.x.rows(), problem.op.rows());
        sense(problem, part, set.x, set.y, seed, 0, pool);
    }
}

Problem make_synthetic(const SyntheticSpec& spec, std::uint64_t seed, ThreadPool& pool) {
    return make_synthetic(spec, Operator::random(structure_of(spec, seed), spec.ensemble, seed),
                          seed, pool);
}

Problem make_synthetic(const SyntheticSpec& spec, Operator op, std::uint64_t seed,
                       ThreadPool& pool) {
    Problem problem;
    problem.op = std::move(op);
    problem.noise_std = spec.noise_std;
    problem.train.x =
        draw_signals(spec.prior, spec.train, problem.op.cols(), seed, Purpose::train_signals, pool);
    problem.test.x =
        draw_signals(spec.prior, spec.test, problem.op.cols(), seed, Purpose::test_signals, pool);
    sense_sets(problem, seed, pool);
    return problem;
}

}  // namespace pibinn
