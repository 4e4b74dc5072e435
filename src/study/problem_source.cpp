#include "study/problem_source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/real_problem.hpp"
#include "pibinn/recipe.hpp"
#include "problem/array_layout.hpp"
#include "study/operator_source.hpp"
#include "study/real_source.hpp"
#include "train/trainer.hpp"

namespace pibinn::study {

namespace {

/// Of real vectors; other rows are judged where they are laid out.
void require_shapes(const ArrayProblem& arrays, const ProblemConfig& source) {
    if (needs_layout(arrays)) return;
    require_shape(arrays.x.rows(), arrays.x.cols(), arrays.op.cols(), "signal entries",
                  source.x_file);
    if (source.y_file.empty()) return;
    require_shape(arrays.y.rows(), arrays.y.cols(), arrays.op.rows(), "measurements",
                  source.y_file);
}

Problem load_arrays(const ProblemConfig& source, std::uint64_t seed, ThreadPool& pool) {
    ArrayProblem arrays;
    arrays.op = load_operator(source);
    arrays.x = read_user_array(source.x_file, source.text);
    if (!source.y_file.empty()) arrays.y = read_user_array(source.y_file, source.text);
    arrays.vectors = source.vectors;
    require_shapes(arrays, source);
    arrays.train = source.train_rows;
    arrays.test = source.test_rows;
    arrays.noise_std = source.spec.noise_std;
    arrays.snr_db = source.spec.snr_db;
    arrays.basis = load_basis(source.real, arrays.x.entries() / source.vectors);
    arrays.seed = seed;
    arrays.x_name = source.x_file;
    arrays.y_name = source.y_file;
    arrays.basis_name = source.real.basis;
    return Problem::from_arrays(arrays, pool);
}

Problem draw_synthetic(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    if (source.operator_file.empty() && source.block_files.empty())
        return make_synthetic(source.spec, config.seed, pool);
    return make_synthetic(source.spec, load_real_operator(source), config.seed, pool);
}

}  // namespace

Problem problem_without_signals(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    if (!traits_of(source).drawn) return make_problem(config, pool);
    Config no_signals = config;
    no_signals.problem.spec.train = 0;
    no_signals.problem.spec.test = 0;
    return make_problem(no_signals, pool);
}

void require_memory(const Config& config, const Structure& physics, std::string_view device) {
    const auto m = static_cast<double>(physics.rows());
    const auto n = static_cast<double>(physics.cols());
    const auto layers = static_cast<double>(config.model.layers);
    const bool fcn = config.model.architecture == Architecture::fcn;
    const double links = fcn                    ? m * n + (layers - 1) * n * n
                         : config.dense_network ? layers * m * n
                                                : layers * static_cast<double>(physics.links());
    const auto bytes_per_link = static_cast<double>(training_bytes_per_link(device));
    const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                          static_cast<double>(::sysconf(_SC_PAGESIZE));
    if (memory > 0 && links * bytes_per_link > memory)
        fail_usage(
            fmt::format("a {} network of {} layers for a {} x {} operator has {:.3g} links, and "
                        "training these takes {:.3g} GB of the {:.3g} GB that this machine has",
                        fcn                    ? "fully connected"
                        : config.dense_network ? "dense"
                                               : "structured",
                        config.model.layers, physics.rows(), physics.cols(), links,
                        links * bytes_per_link / 1e9, memory / 1e9),
            fcn || config.dense_network ? "use a network of the problem's own structure"
                                        : "use fewer layers or a smaller operator");
}

Operator network_operator(const Config& config, const Operator& physics) {
    require_memory(config, physics.structure());
    return config.dense_network ? physics.without_structure() : physics;
}

Model untrained_model(const Config& config, const Problem& problem, double theta) {
    const NetworkSpec spec = fit_network(problem, config.model, config.choices());
    Model model = pibinn::untrained_model(spec, network_operator(config, problem.op), theta);
    model.domain = problem.domain;
    model.metadata["pibinn.recipe"] = "untrained";
    model.metadata["pibinn.seed"] = std::to_string(config.seed);
    return model;
}

Problem make_problem(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    switch (source.kind) {
        case ProblemKind::synthetic:
            return draw_synthetic(config, pool);
        case ProblemKind::arrays:
            return load_arrays(source, config.seed, pool);
        case ProblemKind::images:
            return load_images(config, pool);
        case ProblemKind::signals:
            return load_signals(config, pool);
        case ProblemKind::beamspace:
            return make_beamspace(beamspace_spec(source), config.seed, pool);
        case ProblemKind::access:
            return make_access(access_spec(source), config.seed, pool);
        case ProblemKind::fourier:
            break;
    }
    return make_fourier(fourier_spec(source), config.seed, pool);
}

}  // namespace pibinn::study
