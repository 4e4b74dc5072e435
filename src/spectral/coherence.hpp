#pragma once

#include <cmath>

#include <Eigen/Core>

namespace pibinn {

/// The largest |G(i, j)| with i != j of a Gram matrix G = W^T A (mu of eq. def_mu), where it stands
/// and its sign: the first one by columns.
struct Coherence {
    double mu = 0;
    Eigen::Index i = 0;
    Eigen::Index j = 0;
    double sign = 1;
};

/// In the precision of the Gram matrix: training has it in float32, certificates in float64.
template <class Derived>
Coherence coherence(const Eigen::MatrixBase<Derived>& gram) {
    Coherence most;
    for (Eigen::Index j = 0; j < gram.cols(); ++j)
        for (Eigen::Index i = 0; i < gram.rows(); ++i) {
            const auto value = static_cast<double>(gram(i, j));
            if (i != j && std::abs(value) > most.mu)
                most = {std::abs(value), i, j, value < 0 ? -1.0 : 1.0};
        }
    return most;
}

}  // namespace pibinn
