#pragma once

#include <vector>

#include <Eigen/Dense>

#include "pibinn/model.hpp"
#include "spectral/shrink.hpp"

namespace pibinn {

/// Row-major, one signal per row, as batches are.
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The network of one diagonal block in float64, zeros of a mask included. Blocks never meet, so
/// that the part of a signal in one block is a signal of its own. All repetitions share one.
struct BlockNetwork {
    Block block;  ///< its place in one repetition
    NetworkSpec spec;
    Eigen::MatrixXd A;
    std::vector<Eigen::MatrixXd> W;
    std::vector<double> theta, beta, omega;  ///< one per layer; 0 where the update has none
    std::vector<Shrink> shrinks;             ///< of `piecewise`, one per layer; otherwise empty

    /// The activation of layer k, from 0.
    Shrink shrink(std::size_t k) const {
        return shrinks.empty() ? Shrink{theta[k], {}, {}} : shrinks[k];
    }
    std::size_t m() const { return static_cast<std::size_t>(A.rows()); }
    std::size_t n() const { return static_cast<std::size_t>(A.cols()); }
};

/// One per block. Refuses networks that the theory is not about.
std::vector<BlockNetwork> block_networks(const Model& model);

/// x_1 .. x_K of every row of y, in float64.
std::vector<Rows> run_layers(const BlockNetwork& network, const Rows& y);

}  // namespace pibinn
