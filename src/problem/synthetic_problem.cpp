#include "pibinn/synthetic_problem.hpp"

#include "problem/near_sign.hpp"
#include "problem/random_mask.hpp"
#include "problem/row_shares.hpp"
#include "problem/units.hpp"

namespace pibinn {

namespace {

Structure structure_of(const SyntheticSpec& spec, std::uint64_t seed) {
    const bool blocks =
        spec.structure == StructureKind::repeated || spec.structure == StructureKind::blocks;
    if (spec.ensemble == OperatorEnsemble::binary_sparse && !blocks)
        return random_columns(spec.m, spec.n, spec.ones_per_column, seed);
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

Problem drawn_problem(const SyntheticSpec& spec, double noise_std, Operator op, std::uint64_t seed,
                      ThreadPool& pool) {
    Problem problem;
    problem.op = std::move(op);
    problem.noise_std = noise_std;
    problem.snr_db = spec.snr_db;
    problem.signal_size = 1;
    problem.prior = spec.prior;
    problem.invariance = spec.prior.support.empty() ? Invariance::shifts : Invariance::signs;
    const RowShares shares(spec.train, problem.op.structure().repeat(), spec.parts);
    if (spec.parts > 1) {
        problem.train_begin = shares.begin(spec.part);
        problem.train_rows = spec.train;
    }
    problem.train.x = draw_signals(spec.prior, shares.size(spec.part), problem.op.cols(), seed,
                                   Purpose::train_signals, pool, problem.train_begin);
    problem.test.x =
        draw_signals(spec.prior, spec.test, problem.op.cols(), seed, Purpose::test_signals, pool);
    measure_sets(problem, seed, pool);
    return problem;
}

}  // namespace

Problem make_synthetic(const SyntheticSpec& spec, std::uint64_t seed, ThreadPool& pool) {
    Problem problem = make_synthetic(
        spec, Operator::random(structure_of(spec, seed), spec.ensemble, seed), seed, pool);
    problem.column_norm = 1;
    return problem;
}

Problem make_synthetic(const SyntheticSpec& spec, Operator op, std::uint64_t seed,
                       ThreadPool& pool) {
    Problem problem = drawn_problem(spec, spec.noise_std, op, seed, pool);
    warn_of_entries(op, problem);
    if (op.precise()) {
        const double norm = column_norm(op);
        remember_normalised(
            problem,
            drawn_problem(spec, in_unit(spec.noise_std, norm), op.divided(norm), seed, pool),
            {1, norm});
    }
    return problem;
}

}  // namespace pibinn
