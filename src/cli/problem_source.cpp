#include "cli/problem_source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/real_source.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/real_problem.hpp"

namespace pibinn::cli {

namespace {

struct Split {
    std::size_t train = 0;
    std::size_t test = 0;
};

/// What was not said: all rows, four fifths of them to train.
Split split_rows(const ProblemConfig& problem, std::size_t rows) {
    if (rows < 2)
        fail_input(fmt::format("'{}' holds {} signal(s)", problem.x_file, rows),
                   "give at least two: one to train, one to test");
    Split split;
    if (problem.train_rows)
        split.train = *problem.train_rows;
    else if (problem.test_rows)
        split.train = rows - std::min(rows, *problem.test_rows);
    else
        split.train = std::clamp<std::size_t>(rows * 4 / 5, 1, rows - 1);
    split.test = problem.test_rows.value_or(rows - std::min(rows, split.train));
    if (split.train == 0 || split.test == 0 || split.train + split.test > rows)
        fail_input(
            fmt::format("'{}' holds {} signals, which do not give {} to train and {} to test",
                        problem.x_file, rows, split.train, split.test),
            "lower problem.train or problem.test");
    return split;
}

Batch copy_rows(const Batch& from, std::size_t begin, std::size_t count) {
    Batch to(count, from.cols());
    std::copy_n(from.data() + begin * from.cols(), count * from.cols(), to.data());
    return to;
}

Problem load_arrays(const ProblemConfig& source, std::uint64_t seed, ThreadPool& pool) {
    Problem problem;
    problem.op = load_operator(source.operator_file, source.spec.structure, source.spec.repeat);
    problem.noise_std = source.spec.noise_std;
    Batch x = read_array(source.x_file);
    require_batch(x, problem.op.cols(), "signal entries", source.x_file);
    problem.domain.basis = load_basis(source.real, x.cols());
    if (!problem.domain.plain()) {
        SensingSpec sensing;
        sensing.given = problem.op;
        sensing.on_signals = true;
        problem.op = sensing_operator(sensing, problem.domain.basis, x.cols(), seed, pool);
        x = problem.domain.to_coefficients(x, pool);
        problem.protocol =
            fmt::format("signals of {} in the basis {}", source.x_file, source.real.basis);
    }
    const Split split = split_rows(source, x.rows());
    problem.train.x = copy_rows(x, 0, split.train);
    problem.test.x = copy_rows(x, split.train, split.test);
    if (source.y_file.empty()) {
        sense_sets(problem, seed, pool);
        return problem;
    }
    if (problem.noise_std > 0)
        fail_usage("problem.noise_std would be added to measurements that are given",
                   "remove noise_std, or y to let the operator measure");
    const Batch y = read_array(source.y_file);
    require_batch(y, problem.op.rows(), "measurements", source.y_file);
    if (y.rows() != x.rows())
        fail_input(fmt::format("'{}' holds {} measurements, '{}' {} signals", source.y_file,
                               y.rows(), source.x_file, x.rows()),
                   "row i of the measurements must belong to row i of the signals");
    problem.train.y = copy_rows(y, 0, split.train);
    problem.test.y = copy_rows(y, split.train, split.test);
    return problem;
}

Problem draw_problem(const SyntheticSpec& spec, const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    if (source.operator_file.empty()) return make_synthetic(spec, config.seed, pool);
    return make_synthetic(spec, load_operator(source.operator_file, spec.structure, spec.repeat),
                          config.seed, pool);
}

}  // namespace

Operator load_operator(const std::string& file, StructureKind structure, std::size_t repeat) {
    const Batch a = read_array(file);
    if (a.size() == 0)
        fail_input(fmt::format("operator '{}' is empty ({} x {})", file, a.rows(), a.cols()),
                   "give an m x n matrix");
    if (std::all_of(a.values().begin(), a.values().end(), [](float v) { return v == 0; }))
        fail_input(fmt::format("operator '{}' is zero", file), "give the matrix that measures");
    switch (structure) {
        case StructureKind::dense:
            return Operator::from_dense(a);
        case StructureKind::repeated: {
            const Operator block = Operator::from_dense(a);
            return {Structure::repeated(a.rows(), a.cols(), repeat),
                    {block.values().begin(), block.values().end()}};
        }
        case StructureKind::blocks: {
            if (a.rows() % repeat != 0 || a.cols() % repeat != 0)
                fail_input(fmt::format("'{}' is {} x {}, which {} equal blocks do not tile", file,
                                       a.rows(), a.cols(), repeat),
                           "give the number of blocks on the diagonal as repeat");
            const std::vector<std::pair<std::size_t, std::size_t>> shapes(
                repeat, {a.rows() / repeat, a.cols() / repeat});
            return Operator::from_dense(a, Structure::blocks(shapes));
        }
        case StructureKind::mask:
            break;
    }
    return Operator::from_sparse(a);
}

Matrix<float> operator_matrix(const Operator& op) {
    const Structure& s = op.structure();
    if (s.kind() != StructureKind::repeated) return op.to_dense();
    const Structure block = Structure::dense(s.rows() / s.repeat(), s.cols() / s.repeat());
    return Operator(block, {op.values().begin(), op.values().end()}).to_dense();
}

Problem make_frame(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    if (source.kind != ProblemKind::synthetic) return make_problem(config, pool);
    SyntheticSpec no_signals = source.spec;
    no_signals.train = 0;
    no_signals.test = 0;
    return draw_problem(no_signals, config, pool);
}

Problem make_problem(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    if (source.kind == ProblemKind::arrays) return load_arrays(source, config.seed, pool);
    if (source.kind == ProblemKind::images) return load_images(config, pool);
    if (source.kind == ProblemKind::signals) return load_signals(config, pool);
    return draw_problem(source.spec, config, pool);
}

}  // namespace pibinn::cli
