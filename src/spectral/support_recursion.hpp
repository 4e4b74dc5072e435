#pragma once

#include <vector>

#include "spectral/block_network.hpp"
#include "spectral/shrink.hpp"
#include "spectral/spectral_terms.hpp"

namespace pibinn {

/// Errors layer by layer on one support. As long as the support is kept, an error is linear in the
/// signal, in the noise and in what each activation took off, so that the matrices themselves are
/// followed and not their norms: products of different layers cancel, and noise that passes
/// through all layers is counted once.
class SupportRecursion {
public:
    /// Keeps a reference to the network. Thresholds of the network are not looked at.
    SupportRecursion(const BlockNetwork& network, const Support& support, double B, double noise,
                     double rounding = 0);

    /// The threshold that keeps every entry outside S at zero in the next layer.
    double needed() const { return needed_; }
    /// Goes through the next layer; returns E_k.
    double advance(const Shrink& shrink);

private:
    /// Something that is unknown but for its size, and how the errors depend on it.
    struct Source {
        double size = 0;
        bool box = false;  ///< each entry is at most `size`; otherwise its length is
        Eigen::MatrixXd now, before, moved;
    };
    void enter();
    double leak(const Eigen::MatrixXd& outer) const;
    double residual(const std::vector<Eigen::MatrixXd>& v) const;

    const BlockNetwork* network_;
    std::vector<Eigen::Index> inside_, outside_;
    Eigen::MatrixXd a_;  ///< A_S
    double norm_, noise_, rounding_;
    /// Without noise r lies in the range of A_S, of which this is an orthonormal basis; empty where
    /// nobody asks, or where its columns are all but dependent.
    Eigen::MatrixXd range_;
    std::vector<Source> sources_;  ///< the signal, the noise, then whatever layers add
    std::size_t k_ = 0;
    double needed_ = 0, residual_ = 0, reach_ = 0;
    double operator_norm_ = 0, absolute_norm_ = 0, rounded_ = 0;
    double error_ = 0, error_before_ = 0;  ///< E of the last two layers
};

}  // namespace pibinn
