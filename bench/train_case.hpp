#pragma once

#include <filesystem>
#include <memory>

#include "bench/openblas_step.hpp"
#include "model/network.hpp"
#include "pibinn/problem.hpp"
#include "train/trainer.hpp"

namespace pibinn::bench {

/// What every training epoch of the benchmark does: one stage that trains everything with
/// straight-through signs and never ends.
struct EpochWork {
    static constexpr std::uint64_t seed = 1;
    /// Adam does all its work and moves nothing that matters: the density stays as set.
    static constexpr double rate = 1e-7;
    static Recipe recipe(std::size_t batch);
};

/// A network set from A in which every layer leaves the same share of its entries non-zero.
class TrainCase {
public:
    /// Keeps the problem, which must outlive it.
    TrainCase(const Problem& problem, const Update& update, double density, ThreadPool& pool);

    double density() const { return density_; }
    const NetworkSpec& spec() const { return spec_; }

    /// Our trainer of this network; problem, case and pool must outlive it.
    std::unique_ptr<Trainer> trainer(std::size_t batch, ThreadPool& pool);
    /// The same network for the peer; the update must be plain.
    PlainNetwork plain_network() const;
    /// Of the mean squared error over the training set, by the effective parameters.
    ParameterStore gradient(ThreadPool& pool);
    /// Writes what a peer in another process needs to run the same step and to check itself. Files
    /// of several densities share a folder; `density` names those that differ.
    void write(const std::filesystem::path& folder, double density, ThreadPool& pool);

private:
    std::vector<double> layer_densities(std::size_t rows, ThreadPool& pool);
    void set_density(double density, ThreadPool& pool);
    void clear_threshold(std::size_t k, ThreadPool& pool);

    const Problem& problem_;
    NetworkSpec spec_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<Network> network_;
    ParameterStore latent_;
    ParameterStore effective_;
    double density_ = 0;
};

}  // namespace pibinn::bench
