#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <bench/openblas_step.hpp>

#include "cli/bench.hpp"
#include "cli/bench_case.hpp"
#include "cli/bench_turns.hpp"
#include "cli/kernels.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/random.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "train/trainer.hpp"

namespace pibinn::cli {

namespace {

constexpr std::array kDensities{0.05, 0.10, 0.15, 0.25, 0.40, 0.60};
constexpr std::array<std::size_t, 2> kBatches{250, 4000};
constexpr std::uint64_t kSeed = 1;
// Adam does all its work and moves nothing that matters: the density stays what was set.
constexpr double kRate = 1e-7;

NetworkSpec spec_of(const Update& update) {
    NetworkSpec spec;
    spec.update = update;
    return spec;
}

/// One stage that trains everything with straight-through signs, and never ends.
Recipe recipe_of(std::size_t batch) {
    Stage stage;
    stage.epochs = 1'000'000'000;
    stage.learning_rate = kRate;
    stage.trains_scale = true;
    stage.projection = Projection::lazy;
    Recipe recipe;
    recipe.name = "bench";
    recipe.stages = {stage};
    recipe.batch = batch;
    return recipe;
}

/// A network set from A whose every layer leaves the same share of its entries alive.
class Case {
public:
    Case(const Problem& problem, const Update& update, double density, ThreadPool& pool)
        : problem_(problem),
          spec_(spec_of(update)),
          backend_(make_cpu_backend()),
          network_(make_network(spec_, problem.op, *backend_)),
          latent_(network_->layout()),
          effective_(network_->layout()) {
        const TrainState start =
            Trainer(problem, spec_, recipe_of(kBatches[0]), kSeed, *backend_, pool).snapshot();
        std::copy(start.latent.begin(), start.latent.end(), latent_.values().begin());
        std::fill(latent_.beta().begin(), latent_.beta().end(), 0.3F);
        std::fill(latent_.omega().begin(), latent_.omega().end(), 0.3F);
        set_density(density, pool);
    }

    double density() const { return density_; }
    const ParameterStore& latent() const { return latent_; }
    const NetworkSpec& spec() const { return spec_; }
    Backend& backend() { return *backend_; }

    std::unique_ptr<Trainer> trainer(std::size_t batch, ThreadPool& pool) {
        auto trainer =
            std::make_unique<Trainer>(problem_, spec_, recipe_of(batch), kSeed, *backend_, pool);
        TrainState state = trainer->snapshot();
        std::copy(latent_.values().begin(), latent_.values().end(), state.latent.begin());
        trainer->restore(state);
        return trainer;
    }

    /// Of the mean squared error over the training set.
    ParameterStore gradient(ThreadPool& pool) {
        const Batch& x = problem_.train.x;
        const std::vector<float> weights(x.rows(), 1 / static_cast<float>(x.rows()));
        ParameterStore gradient(network_->layout());
        make_effective(spec_.weights, latent_, effective_, *backend_);
        network_->gradient(effective_, problem_.train.y, x, RowLoss::squared, weights, gradient,
                           pool);
        return gradient;
    }

    bench::PlainNetwork plain_network() const {
        bench::PlainNetwork plain;
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

private:
    std::vector<double> layer_densities(std::size_t rows, ThreadPool& pool) {
        make_effective(spec_.weights, latent_, effective_, *backend_);
        std::vector<Batch> layers;
        network_->recover_coefficients(effective_, problem_.train.y.view().row_range(0, rows), pool,
                                       &layers);
        std::vector<double> densities;
        for (const Batch& x : layers) {
            const auto zeros = std::count(x.values().begin(), x.values().end(), 0.0F);
            densities.push_back(1 - static_cast<double>(zeros) / static_cast<double>(x.size()));
        }
        return densities;
    }

    /// Layer by layer: the density of x_k falls with theta_k and depends on no later layer.
    void set_density(double density, ThreadPool& pool) {
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

    /// Moves theta_k into the widest gap that the |z| of the training set leave nearby. An entry
    /// within rounding of its threshold is alive for one peer and not for another, and one such
    /// entry shows in the gradient.
    void clear_threshold(std::size_t k, ThreadPool& pool) {
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

    const Problem& problem_;
    NetworkSpec spec_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<Network> network_;
    ParameterStore latent_;
    ParameterStore effective_;
    double density_ = 0;
};

/// An epoch of the peer, with the shuffling and the copying of rows that ours has: none in a full
/// batch.
class PeerEpoch {
public:
    PeerEpoch(const Problem& problem, const bench::PlainNetwork& network, std::size_t batch,
              ThreadPool& pool)
        : set_(problem.train), step_(network, pool), x_(batch, network.n), y_(batch, network.m) {}

    void run() {
        const std::size_t batch = x_.rows();
        if (batch == set_.x.rows()) {
            step_.gradient(set_.y, set_.x);
            step_.adam(static_cast<float>(kRate));
            return;
        }
        const auto order = Stream(kSeed, Purpose::shuffle, epoch_++).permutation(set_.x.rows());
        for (std::size_t at = 0; at + batch <= order.size(); at += batch) {
            for (std::size_t i = 0; i < batch; ++i) {
                const auto x = set_.x.row(order[at + i]);
                const auto y = set_.y.row(order[at + i]);
                std::copy(x.begin(), x.end(), x_.row(i).begin());
                std::copy(y.begin(), y.end(), y_.row(i).begin());
            }
            step_.gradient(y_, x_);
            step_.adam(static_cast<float>(kRate));
        }
    }

private:
    const DataSet& set_;
    bench::OpenBlasStep step_;
    Batch x_, y_;
    std::size_t epoch_ = 0;
};

/// How far the peer's gradient is from ours, in the worst layer.
double gradient_difference(const Problem& problem, Case& ours, ThreadPool& pool) {
    const ParameterStore gradient = ours.gradient(pool);
    bench::OpenBlasStep step(ours.plain_network(), pool);
    step.gradient(problem.train.y, problem.train.x);
    double worst = relative_difference(gradient.theta(), step.theta_gradient());
    const std::size_t links = gradient.weights(1).size();
    for (std::size_t k = 1; k <= ours.spec().layers; ++k)
        worst = std::max(
            worst, relative_difference(gradient.weights(k),
                                       step.weight_gradient().subspan((k - 1) * links, links)));
    return worst;
}

/// Everything a peer outside this program needs to run the same step and to check itself.
void write_case(const std::filesystem::path& folder, const Problem& problem, Case& ours,
                double target, ThreadPool& pool) {
    std::filesystem::create_directories(folder);
    const auto write = [&](const std::string& name, std::span<const float> values,
                           std::size_t rows) {
        write_npy(folder / (name + ".npy"), {values.data(), rows, values.size() / rows});
    };
    const ParameterStore& latent = ours.latent();
    const std::size_t weights = latent.layout().weights_size();
    const std::string suffix = fmt::format("-{:.0f}", 100 * target);
    write_npy(folder / "x.npy", problem.train.x);
    write_npy(folder / "y.npy", problem.train.y);
    write("operator", problem.op.values(), problem.op.cols());
    write("latent", latent.values().first(weights), ours.spec().layers);
    write("scale", latent.scale(), 1);
    write("theta" + suffix, latent.theta(), 1);
    write("gradient" + suffix, ours.gradient(pool).values().first(weights), ours.spec().layers);
}

}  // namespace

std::vector<BenchResult> bench_train(const BenchOptions& options, Console& console) {
    ThreadPool all(0);
    SyntheticSpec synthetic;
    synthetic.test = 1;  // an epoch now and then measures the test set; that is not the step
    const Problem problem = make_synthetic(synthetic, kSeed, all);
    const std::size_t count = kDensities.size() * kBatches.size() * options.threads.size();
    std::vector<BenchResult> results;
    for (const double target : kDensities) {
        Case plain(problem, Update::plain(), target, all);
        Case accelerated(problem, Update::accelerated(), target, all);
        const double error = gradient_difference(problem, plain, all);
        if (!options.cases.empty()) write_case(options.cases, problem, plain, target, all);
        for (const std::size_t batch : kBatches)
            for (const std::size_t threads : options.threads) {
                ThreadPool pool(threads);
                const auto ours = plain.trainer(batch, pool);
                const auto fast = accelerated.trainer(batch, pool);
                PeerEpoch peer(problem, plain.plain_network(), batch, pool);
                BenchResult result;
                result.name = "train";
                result.update = "plain";
                result.m = synthetic.m;
                result.n = synthetic.n;
                result.layers = plain.spec().layers;
                result.batch = batch;
                result.threads = threads;
                result.density = plain.density();
                result.kernel = kernel_names().front();
                const std::array turns{wall_runs([&] { ours->run_epoch(); }),
                                       wall_runs([&] { peer.run(); }),
                                       wall_runs([&] { fast->run_epoch(); })};
                const auto times = take_turns(options.seconds, turns);
                result.ours_us = times[0].median();
                result.peer = "openblas";
                result.peer_us = times[1].median();
                result.ratio = ratio(times[1], times[0]);
                result.error = error;
                results.push_back(result);
                result.update = "accelerated";
                result.density = accelerated.density();
                result.ours_us = times[2].median();
                result.peer = "ours, plain";
                result.peer_us = times[0].median();
                result.ratio = ratio(times[0], times[2]);
                result.error.reset();
                results.push_back(result);
                console.progress({"bench train", results.size() / 2, count, ""});
            }
    }
    console.clear_progress();
    return results;
}

}  // namespace pibinn::cli
