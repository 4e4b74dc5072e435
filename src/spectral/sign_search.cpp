#include "spectral/sign_search.hpp"

#include <limits>

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Sweeps over all signs: the last ones flip next to nothing.
constexpr int kMostSweeps = 12;

/// One or two signs whose flips lower ||A^T w - target||^2 most; first < 0 where none does.
struct Flip {
    Index first = -1, second = -1;
};

Flip best_flip(const MatrixXd& gram, const VectorXd& w, const VectorXd& slope) {
    // Flipping i adds 4 (|a_i|^2 - w_i a_i r), and a pair 8 w_i w_j a_i a_j more.
    Flip best;
    double least = -1e-12;
    const VectorXd single = gram.diagonal() - w.cwiseProduct(slope);
    for (Index i = 0; i < w.size(); ++i) {
        if (single[i] < least) {
            least = single[i];
            best = {i, -1};
        }
        for (Index j = 0; j < i; ++j) {
            const double both = single[i] + single[j] + 2 * w[i] * w[j] * gram(i, j);
            if (both < least) {
                least = both;
                best = {i, j};
            }
        }
    }
    return best;
}

double eighth_powers(const VectorXd& r) { return r.array().square().square().square().sum(); }

}  // namespace

VectorXd search_signs(const MatrixXd& A, const VectorXd& target, std::size_t starts,
                      Stream& stream) {
    const MatrixXd gram = A * A.transpose();
    VectorXd best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t start = 0; start < starts; ++start) {
        VectorXd w(A.rows());
        for (double& v : w) v = stream.uniform() < 0.5 ? -1 : 1;
        // The first start leans towards the target.
        if (start == 0) w = (A * target).unaryExpr([](double v) { return v < 0 ? -1.0 : 1.0; });
        VectorXd slope = gram * w - A * target;
        for (Flip flip = best_flip(gram, w, slope); flip.first >= 0;
             flip = best_flip(gram, w, slope))
            for (const Index i : {flip.first, flip.second}) {
                if (i < 0) continue;
                slope -= 2 * w[i] * gram.col(i);
                w[i] = -w[i];
            }
        const double error = (A.transpose() * w - target).squaredNorm();
        if (error >= least) continue;
        least = error;
        best = w;
    }
    return best;
}

VectorXd flatten_signs(const MatrixXd& A, const VectorXd& target, VectorXd start) {
    const MatrixXd rows = A.transpose();  // a column per sign
    VectorXd r = rows * start - target;
    const double unit = r.cwiseAbs().maxCoeff();
    double now = eighth_powers(r / unit);
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
        bool flipped = false;
        for (Index i = 0; i < start.size(); ++i) {
            const VectorXd other = r - 2 * start[i] * rows.col(i);
            const double then = eighth_powers(other / unit);
            if (then >= now) continue;
            now = then;
            r = other;
            start[i] = -start[i];
            flipped = true;
        }
        if (!flipped) break;
    }
    return start;
}

}  // namespace pibinn
