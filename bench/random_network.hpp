#pragma once

#include <cstddef>
#include <cstdint>

#include "pibinn/model.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::bench {

/// Of every random network and signal.
inline constexpr std::uint64_t kSeed = 1;
/// Of x in the layers of random networks.
inline constexpr double kDensity = 0.10;

/// Which random network.
struct RandomSpec {
    Structure structure;
    std::size_t layers = 20;
    Update update = Update::plain();
    WeightKind weights = WeightKind::one_bit;  ///< or tied
    OperatorEnsemble ensemble = OperatorEnsemble::gaussian;
    Activation activation = Activation::soft;  ///< or piecewise, of four pieces
};

/// A network from a random operator, its thresholds still 0. Every layer of a one-bit network
/// carries the signs of A, scaled as A / ||A||^2 is, with 2 % of them flipped: a peer could keep
/// one copy of equal layers.
Model random_network(const RandomSpec& spec);

/// Sets the thresholds layer by layer so that each leaves about `density` of its entries non-zero
/// on `y`: our kernels skip zeros, and most peers do not. Thresholds that scale with the residual
/// need a dense network; a usage error otherwise.
void set_thresholds(Model& model, ConstBatchView y, double density, ThreadPool& pool);

/// The share of entries that are not zero.
double nonzero_share(const Batch& x);

}  // namespace pibinn::bench
