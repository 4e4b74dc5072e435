#include "cli/problem_source.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/operator_source.hpp"
#include "cli/real_source.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/real_problem.hpp"

namespace pibinn::cli {

namespace {

struct RowSplit {
    std::size_t train = 0;
    std::size_t test = 0;
};

/// What was not said: all rows, four fifths of them to train.
RowSplit split_rows(const ProblemConfig& problem, std::size_t rows) {
    if (rows < 2)
        fail_input(fmt::format("'{}' holds {} signal(s)", problem.x_file, rows),
                   "give at least two: one to train, one to test");
    RowSplit split;
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
    problem.op = load_operator(source);
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
    const RowSplit split = split_rows(source, x.rows());
    problem.train.x = copy_rows(x, 0, split.train);
    problem.test.x = copy_rows(x, split.train, split.test);
    if (source.y_file.empty()) {
        measure_sets(problem, seed, pool);
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

/// Found before a network is trained on nothing: nmse divides by the norm of a signal.
void require_some_signal(const Batch& x, const char* set, const ProblemConfig& source) {
    if (std::any_of(x.values().begin(), x.values().end(), [](float v) { return v != 0; })) return;
    const std::string& where = source.x_file.empty() ? source.real.path : source.x_file;
    fail_input(fmt::format("all {} {} signals of '{}' are zero{}", x.rows(), set, where,
                           source.real.normalize ? " once they are normalised" : ""),
               "nmse divides by their norm: give signals that are not zero");
}

Problem draw_problem(const SyntheticSpec& spec, const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    if (source.operator_file.empty() && source.block_files.empty())
        return make_synthetic(spec, config.seed, pool);
    return make_synthetic(spec, load_operator(source), config.seed, pool);
}

}  // namespace

Problem make_frame(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    if (source.kind != ProblemKind::synthetic) return make_problem(config, pool);
    SyntheticSpec no_signals = source.spec;
    no_signals.train = 0;
    no_signals.test = 0;
    return draw_problem(no_signals, config, pool);
}

void require_memory(const Config& config, const Structure& physics) {
    const auto m = static_cast<double>(physics.rows());
    const auto n = static_cast<double>(physics.cols());
    const auto layers = static_cast<double>(config.model.layers);
    const bool fcn = config.model.architecture == Architecture::fcn;
    const double links = fcn                    ? m * n + (layers - 1) * n * n
                         : config.dense_network ? layers * m * n
                                                : layers * static_cast<double>(physics.links());
    // Latent and effective weights, gradient, two moments, and the gradients of eight lanes.
    constexpr double kBytesPerLink = 13 * sizeof(float);
    const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                          static_cast<double>(::sysconf(_SC_PAGESIZE));
    if (memory > 0 && links * kBytesPerLink > memory)
        fail_usage(
            fmt::format("a {} network of {} layers for a {} x {} operator has {:.3g} links, and "
                        "training these takes {:.3g} GB of the {:.3g} GB that this machine has",
                        fcn                    ? "fully connected"
                        : config.dense_network ? "dense"
                                               : "structured",
                        config.model.layers, physics.rows(), physics.cols(), links,
                        links * kBytesPerLink / 1e9, memory / 1e9),
            fcn || config.dense_network ? "use a network of the problem's own structure"
                                        : "use fewer layers or a smaller operator");
}

Operator network_operator(const Config& config, const Operator& physics) {
    require_memory(config, physics.structure());
    return config.dense_network ? Operator::from_dense(physics.to_dense()) : physics;
}

Problem make_problem(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    if (source.kind == ProblemKind::synthetic) return draw_problem(source.spec, config, pool);
    Problem problem = source.kind == ProblemKind::arrays   ? load_arrays(source, config.seed, pool)
                      : source.kind == ProblemKind::images ? load_images(config, pool)
                                                           : load_signals(config, pool);
    require_some_signal(problem.train.x, "training", source);
    require_some_signal(problem.test.x, "test", source);
    return problem;
}

}  // namespace pibinn::cli
