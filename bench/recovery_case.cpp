#include "bench/recovery_case.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/random_network.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/random.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/sparse_prior.hpp"

namespace pibinn::bench {

namespace {

constexpr double kSignalDensity = 0.05;
// Signals that set thresholds and measure densities. 64 of them left plain and accelerated networks
// 7 % apart.
constexpr std::size_t kSample = 1024;

/// A fully connected model holds no operator: random measurements cost it the same time.
const Operator& measuring_operator(const Model& model, Operator& random) {
    if (model.spec.architecture == Architecture::unrolled) return model.op;
    random = Operator::random(Structure::dense(model.op.rows(), model.op.cols()),
                              OperatorEnsemble::gaussian, kSeed);
    return random;
}

void draw(RecoveryCase& c, double density, std::size_t rows, ThreadPool& pool) {
    c.x = draw_signals(SparsePrior{density, {}}, rows, c.model.op.cols(), kSeed,
                       Purpose::test_signals, pool);
    Operator random;
    c.y = measuring_operator(c.model, random).apply(c.x, pool);
}

void measure_density(RecoveryCase& c, ThreadPool& pool) {
    std::vector<Batch> layers;
    const std::size_t rows = std::min(kSample, c.y.rows());
    Recoverer(c.model).coefficients(c.y.view().row_range(0, rows), pool, &layers);
    c.density = 0;
    for (const Batch& x : layers)
        c.density += nonzero_share(x) / static_cast<double>(layers.size());
}

}  // namespace

RecoveryCase random_case(const Structure& structure, std::size_t layers, const Update& update,
                         double density, std::size_t rows, ThreadPool& pool) {
    return random_case({structure, layers, update}, density, rows, pool);
}

RecoveryCase random_case(const RandomSpec& spec, double density, std::size_t rows,
                         ThreadPool& pool) {
    RecoveryCase c;
    c.origin = "random";
    c.model = random_network(spec);
    draw(c, kSignalDensity, rows, pool);
    set_thresholds(c.model, c.y.view().row_range(0, std::min(kSample, rows)), density, pool);
    measure_density(c, pool);
    return c;
}

RecoveryCase model_case(Model model, double density, std::size_t rows, ThreadPool& pool) {
    RecoveryCase c;
    c.origin = "trained";
    c.model = std::move(model);
    draw(c, density, rows, pool);
    measure_density(c, pool);
    return c;
}

bool peers_can_run(const Model& model) {
    return model.spec.architecture == Architecture::unrolled &&
           (model.spec.activation == Activation::soft || model.spec.has_gains()) &&
           model.spec.polish == 0 && !model.spec.centre &&
           model.op.structure().kind() == StructureKind::dense;
}

RecoveryNetwork network_of(const Model& model) {
    ensure(peers_can_run(model), "peers run dense unrolled networks");
    const auto or_zeros = [&](const std::vector<float>& values) {
        return values.empty() ? std::vector<float>(model.spec.layers) : values;
    };
    RecoveryNetwork network;
    network.m = model.op.rows();
    network.n = model.op.cols();
    network.layers = model.spec.layers;
    network.plain = !model.spec.update.momentum && !model.spec.update.onsager;
    network.residual_threshold = model.spec.update.residual_threshold;
    network.delta = static_cast<float>(model.spec.delta);
    network.a.assign(model.op.values().begin(), model.op.values().end());
    network.tied = model.spec.tied();
    network.pieces = model.spec.has_gains() ? model.spec.pieces : 0;
    network.weights.reserve(model.links());
    for (const AlignedBuffer<float>& w : model.weights)
        network.weights.insert(network.weights.end(), w.begin(), w.end());
    if (network.tied) network.weights = network.a;
    for (std::size_t k = 1; k <= network.layers; ++k) network.step.push_back(model.step_of(k));
    network.theta = model.theta;
    network.gain = model.gain;
    network.beta = or_zeros(model.beta);
    network.omega = or_zeros(model.omega);
    return network;
}

std::string case_name(const RecoveryCase& c) {
    return fmt::format("recover-{}-{}x{}x{}", c.origin, c.model.op.rows(), c.model.op.cols(),
                       c.model.spec.layers);
}

void write_case(const std::filesystem::path& folder, const RecoveryCase& c, const Batch& ours) {
    const NetworkSpec& spec = c.model.spec;
    if (!peers_can_run(c.model) || spec.tied() || spec.has_gains() || spec.update.step)
        fail_usage(
            fmt::format("no other peer runs a {} {} network with activation {}{}",
                        to_string(c.model.op.structure().kind()), to_string(spec.architecture),
                        to_string(spec.activation), spec.centre ? " and centred residuals" : ""),
            "remove --cases: peers run dense unrolled networks with the soft threshold");
    const RecoveryNetwork network = network_of(c.model);
    std::filesystem::create_directories(folder);
    const auto write = [&](const char* name, std::span<const float> values, std::size_t rows) {
        write_npy(folder / fmt::format("{}.npy", name),
                  {values.data(), rows, values.size() / rows});
    };
    write("operator", network.a, network.n);
    write("weights", network.weights, network.layers * network.n);
    write("theta", network.theta, 1);
    write("beta", network.beta, 1);
    write("omega", network.omega, 1);
    write("signals", c.x.values(), c.x.rows());
    write("y", c.y.values(), c.y.rows());
    write("x", ours.values(), ours.rows());
    const float settings[] = {network.residual_threshold ? 1.0F : 0.0F, network.delta};
    write("settings", settings, 1);
    c.model.save(folder / "model.safetensors");
}

double relative_difference(std::span<const float> a, std::span<const float> b) {
    if (a.size() != b.size())
        fail_usage(fmt::format("{} values compared with {}", a.size(), b.size()),
                   "compare results of the same signals");
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
        norm += double{a[i]} * a[i];
    }
    return difference == 0 ? 0 : std::sqrt(difference / norm);
}

}  // namespace pibinn::bench
