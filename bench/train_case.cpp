#include "bench/train_case.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/random_network.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"

namespace pibinn::bench {

namespace {

constexpr std::size_t kAnyBatch = 250;
constexpr float kMomentum = 0.3F;
constexpr float kOnsager = 0.3F;

NetworkSpec spec_of(const Update& update) {
    NetworkSpec spec;
    spec.update = update;
    return spec;
}

}  // namespace

Recipe EpochWork::recipe(std::size_t batch) {
    Stage stage;
    stage.epochs = 1'000'000'000;
    stage.learning_rate = rate;
    stage.trains_scale = true;
    stage.projection = Projection::lazy;
    Recipe recipe;
    recipe.name = "bench";
    recipe.stages = {stage};
    recipe.batch = batch;
    return recipe;
}

TrainCase::TrainCase(const Problem& problem, const Update& update, double density, ThreadPool& pool)
    : problem_(problem),
      spec_(spec_of(update)),
      backend_(make_cpu_backend()),
      network_(make_network(spec_, problem.op, *backend_)),
      latent_(network_->layout()),
      effective_(network_->layout()) {
    const TrainState start =
        Trainer(problem, spec_, EpochWork::recipe(kAnyBatch), EpochWork::seed, *backend_, pool)
            .snapshot();
    std::copy(start.latent.begin(), start.latent.end(), latent_.values().begin());
    std::fill(latent_.beta().begin(), latent_.beta().end(), kMomentum);
    std::fill(latent_.omega().begin(), latent_.omega().end(), kOnsager);
    set_density(density, pool);
}

std::unique_ptr<Trainer> TrainCase::trainer(std::size_t batch, ThreadPool& pool) {
    auto trainer = std::make_unique<Trainer>(problem_, spec_, EpochWork::recipe(batch),
                                             EpochWork::seed, *backend_, pool);
    TrainState state = trainer->snapshot();
    std::copy(latent_.values().begin(), latent_.values().end(), state.latent.begin());
    trainer->restore(state);
    return trainer;
}

ParameterStore TrainCase::gradient(ThreadPool& pool) {
    const Batch& x = problem_.train.x;
    const std::vector<float> weights(x.rows(), 1 / static_cast<float>(x.rows()));
    ParameterStore gradient(network_->layout());
    make_effective(spec_.weights, latent_, effective_, *backend_);
    network_->gradient(effective_, problem_.train.y, x, RowLoss::squared, weights, gradient, pool);
    return gradient;
}

PlainNetwork TrainCase::plain_network() const {
    ensure(spec_.update.is_plain(), "the peer trains the plain update");
    PlainNetwork plain;
    plain.m = problem_.op.rows();
    plain.n = problem_.op.cols();
    plain.layers = spec_.layers;
    plain.a.assign(problem_.op.values().begin(), problem_.op.values().end());
    const auto weights = latent_.values().first(latent_.layout().weights_size());
    plain.latent.assign(weights.begin(), weights.end());
    plain.theta.assign(latent_.theta().begin(), latent_.theta().end());
    plain.scale = latent_.scale()[0];
    return plain;
}

void TrainCase::write(const std::filesystem::path& folder, double density, ThreadPool& pool) {
    std::filesystem::create_directories(folder);
    const auto write = [&](const std::string& name, std::span<const float> values,
                           std::size_t rows) {
        write_npy(folder / (name + ".npy"), {values.data(), rows, values.size() / rows});
    };
    const std::size_t weights = latent_.layout().weights_size();
    const std::string suffix = fmt::format("-{:.0f}", 100 * density);
    write_npy(folder / "x.npy", problem_.train.x);
    write_npy(folder / "y.npy", problem_.train.y);
    write("operator", problem_.op.values(), problem_.op.cols());
    write("latent", latent_.values().first(weights), spec_.layers);
    write("scale", latent_.scale(), 1);
    write("theta" + suffix, latent_.theta(), 1);
    write("gradient" + suffix, gradient(pool).values().first(weights), spec_.layers);
}

std::vector<double> TrainCase::layer_densities(std::size_t rows, ThreadPool& pool) {
    make_effective(spec_.weights, latent_, effective_, *backend_);
    std::vector<Batch> layers;
    network_->recover_coefficients(effective_, problem_.train.y.view().row_range(0, rows), pool,
                                   &layers);
    std::vector<double> densities;
    for (const Batch& x : layers) densities.push_back(nonzero_share(x));
    return densities;
}

/// Layer by layer: the density of x_k falls with theta_k and depends on no later layer.
void TrainCase::set_density(double density, ThreadPool& pool) {
    constexpr std::size_t rows = 192;
    for (std::size_t k = 0; k < spec_.layers; ++k) {
        float low = 0;
        float high = 8;
        for (int halving = 0; halving < 20; ++halving) {
            float& theta = latent_.theta()[k];
            theta = (low + high) / 2;
            (layer_densities(rows, pool)[k] > density ? low : high) = theta;
        }
    }
    if (spec_.update.is_plain())
        for (std::size_t k = 0; k < spec_.layers; ++k) clear_threshold(k, pool);
    density_ = 0;
    for (double d : layer_densities(problem_.train.y.rows(), pool))
        density_ += d / static_cast<double>(spec_.layers);
}

/// Moves theta_k into the widest gap that the |z| of the training set leave nearby. An entry within
/// rounding of its threshold passes for one peer and not for another, and one such entry shows in
/// the gradient.
void TrainCase::clear_threshold(std::size_t k, ThreadPool& pool) {
    float& theta = latent_.theta()[k];
    const float wanted = theta;
    theta = 0;  // then x_k is z_k
    make_effective(spec_.weights, latent_, effective_, *backend_);
    std::vector<Batch> layers;
    network_->recover_coefficients(effective_, problem_.train.y, pool, &layers);
    std::vector<float> near{wanted};
    for (const float z : layers[k].values())
        if (std::abs(std::abs(z) - wanted) < 1e-3F * wanted) near.push_back(std::abs(z));
    std::sort(near.begin(), near.end());
    theta = wanted;
    float widest = 0;
    for (std::size_t i = 1; i < near.size(); ++i)
        if (near[i] - near[i - 1] > widest) {
            widest = near[i] - near[i - 1];
            theta = near[i - 1] + widest / 2;
        }
}

}  // namespace pibinn::bench
