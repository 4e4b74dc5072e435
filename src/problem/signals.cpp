#include "pibinn/signals.hpp"

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

DataSet draw_set(const SyntheticSpec& spec, const Operator& op, std::size_t count,
                 std::uint64_t seed, Purpose signals, Purpose noise, ThreadPool& pool) {
    DataSet set;
    set.x = draw_signals(spec.prior, count, op.cols(), seed, signals, pool);
    set.y = op.apply(set.x, pool);
    add_noise(set.y, spec.noise_std, seed, noise, pool);
    return set;
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

void add_noise(BatchView y, double noise_std, std::uint64_t seed, Purpose purpose,
               ThreadPool& pool) {
    if (!(noise_std >= 0 && std::isfinite(noise_std)))
        fail_usage(fmt::format("noise_std {} is not a number from 0 on", noise_std),
                   "give 0 for no noise");
    if (noise_std == 0) return;
    pool.run_chunks(y.rows, kRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Stream stream(seed, purpose, i);
            for (float& v : y.row(i)) v += static_cast<float>(noise_std * stream.normal());
        }
    });
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
    problem.train = draw_set(spec, problem.op, spec.train, seed, Purpose::train_signals,
                             Purpose::train_noise, pool);
    problem.test = draw_set(spec, problem.op, spec.test, seed, Purpose::test_signals,
                            Purpose::test_noise, pool);
    return problem;
}

}  // namespace pibinn
