#include "cli/bench_case.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "algebra/activate.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/random.hpp"
#include "pibinn/synthetic_problem.hpp"

namespace pibinn::cli {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr double kSignalDensity = 0.05;
// Signals that thresholds are set by and densities are measured on.
constexpr std::size_t kSample = 1024;

void draw(RecoverCase& c, double density, std::size_t rows, ThreadPool& pool) {
    c.x = draw_signals({density, {}}, rows, c.model.op.cols(), kSeed, Purpose::test_signals, pool);
    c.y = c.model.op.apply(c.x, pool);
}

double alive_share(const Batch& x) {
    const auto zeros = std::count(x.values().begin(), x.values().end(), 0.0F);
    return 1 - static_cast<double>(zeros) / static_cast<double>(x.size());
}

void measure_density(RecoverCase& c, ThreadPool& pool) {
    std::vector<Batch> layers;
    const std::size_t rows = std::min(kSample, c.y.rows());
    PackedModel(c.model).recover(c.y.view().row_range(0, rows), pool, &layers);
    c.density = 0;
    for (const Batch& x : layers) c.density += alive_share(x) / static_cast<double>(layers.size());
}

/// The signs of A in every layer, scaled as A / ||A||^2 is, a few of them flipped: were layers
/// alike, a peer could keep one for all. The norm is that of theory: to iterate for the one of a
/// large operator takes longer than to measure it.
Model random_model(const Structure& structure, std::size_t layers, const Update& update) {
    Model model;
    model.spec.layers = layers;
    model.spec.update = update;
    model.op = Operator::random(structure, OperatorEnsemble::gaussian, kSeed);
    const double norm =
        1 + std::sqrt(static_cast<double>(model.op.cols()) / static_cast<double>(model.op.rows()));
    double sum = 0;
    for (const float a : model.op.values()) sum += std::abs(a);
    const auto scale =
        static_cast<float>(sum / static_cast<double>(structure.links()) / (norm * norm));
    AlignedBuffer<float> weights;
    for (const float a : model.op.values()) weights.push_back(a < 0 ? -scale : scale);
    model.weights.assign(layers, weights);
    for (std::size_t k = 0; k < layers; ++k) {
        Stream stream(kSeed, Purpose::weights, k);
        for (std::size_t flips = weights.size() / 50; flips > 0; --flips) {
            float& w = model.weights[k][stream.below(static_cast<std::uint32_t>(weights.size()))];
            w = -w;
        }
    }
    model.theta.resize(layers);
    if (update.momentum) model.beta.assign(layers, 0.3F);
    if (update.onsager) model.omega.assign(layers, 0.3F);
    return model;
}

/// Layer by layer: theta_k becomes the quantile of what it is compared with.
void set_thresholds(Model& model, ConstBatchView y, double density, ThreadPool& pool) {
    const std::size_t rows = y.rows;
    const std::size_t m = model.op.rows();
    const std::size_t n = model.op.cols();
    Batch x1(rows, n), x2(rows, n), before(rows, m);
    for (std::size_t k = 0; k < model.spec.layers; ++k) {
        const float beta = model.beta.empty() ? 0 : model.beta[k];
        const float omega = model.omega.empty() ? 0 : model.omega[k];
        Batch v = x1;
        for (std::size_t e = 0; e < v.size(); ++e)
            v.data()[e] += beta * (x1.data()[e] - x2.data()[e]);
        Batch r = model.op.apply(v, pool);
        std::vector<float> unit(rows, 1);
        for (std::size_t i = 0; i < rows; ++i) {
            const auto zeros = std::count(x1.row(i).begin(), x1.row(i).end(), 0.0F);
            const float share =
                static_cast<float>(n - static_cast<std::size_t>(zeros)) / static_cast<float>(m);
            float sum = 0;
            for (std::size_t e = 0; e < m; ++e) {
                r(i, e) += omega * share * before(i, e) - y(i, e);
                sum += std::abs(r(i, e));
            }
            if (model.spec.update.residual_threshold) unit[i] = sum / static_cast<float>(m);
        }
        const Batch q = Operator(model.op.structure(), model.weights[k]).adjoint(r, pool);
        std::vector<float> sizes;
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                v(i, j) -= q(i, j);
                sizes.push_back(std::abs(v(i, j)) / unit[i]);
            }
        const auto place =
            static_cast<std::ptrdiff_t>((1 - density) * static_cast<double>(sizes.size() - 1));
        std::nth_element(sizes.begin(), sizes.begin() + place, sizes.end());
        model.theta[k] = sizes[static_cast<std::size_t>(place)];
        std::swap(x1, x2);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < n; ++j)
                x1(i, j) = activate(Activation::soft, v(i, j), model.theta[k] * unit[i]);
        before = std::move(r);
    }
}

}  // namespace

RecoverCase random_case(const Structure& structure, std::size_t layers, const Update& update,
                        double density, std::size_t rows, ThreadPool& pool) {
    RecoverCase c;
    c.origin = "random";
    c.model = random_model(structure, layers, update);
    draw(c, kSignalDensity, rows, pool);
    set_thresholds(c.model, c.y.view().row_range(0, std::min(kSample, rows)), density, pool);
    measure_density(c, pool);
    return c;
}

RecoverCase trained_case(Model model, const std::string& file, double density, std::size_t rows,
                         ThreadPool& pool) {
    RecoverCase c;
    c.origin = "trained";
    c.model = std::move(model);
    const NetworkSpec& spec = c.model.spec;
    if (!can_be_packed(spec) || spec.activation != Activation::soft ||
        c.model.op.structure().kind() != StructureKind::dense)
        fail_usage(
            fmt::format("'{}' is a {} {} network of {} weights, activation {}", file,
                        to_string(c.model.op.structure().kind()), to_string(spec.architecture),
                        to_string(spec.weights), to_string(spec.activation)),
            "the peers run dense unrolled networks of one-bit or ternary weights and the "
            "soft threshold");
    draw(c, density, rows, pool);
    measure_density(c, pool);
    return c;
}

bench::RecoveryNetwork network_of(const Model& model) {
    const auto or_zeros = [&](const std::vector<float>& values) {
        return values.empty() ? std::vector<float>(model.spec.layers) : values;
    };
    bench::RecoveryNetwork network;
    network.m = model.op.rows();
    network.n = model.op.cols();
    network.layers = model.spec.layers;
    network.plain = !model.spec.update.momentum && !model.spec.update.onsager;
    network.residual_threshold = model.spec.update.residual_threshold;
    network.delta = static_cast<float>(model.spec.delta);
    network.a.assign(model.op.values().begin(), model.op.values().end());
    network.weights.reserve(model.links());
    for (const AlignedBuffer<float>& w : model.weights)
        network.weights.insert(network.weights.end(), w.begin(), w.end());
    network.theta = or_zeros(model.theta);
    network.beta = or_zeros(model.beta);
    network.omega = or_zeros(model.omega);
    return network;
}

void write_case(const std::filesystem::path& folder, const RecoverCase& c, const Batch& ours) {
    const bench::RecoveryNetwork network = network_of(c.model);
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
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
        norm += double{a[i]} * a[i];
    }
    return difference == 0 ? 0 : std::sqrt(difference / norm);
}

}  // namespace pibinn::cli
