#include "spectral/support_recursion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/QR>

#include "spectral/rounding.hpp"
#include "spectral/spectral_norm.hpp"
#include "spectral/step_matrix.hpp"

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// How large each row times the source can be.
VectorXd rows_times(const MatrixXd& m, double size, bool box) {
    return size * (box ? VectorXd(m.cwiseAbs().rowwise().sum()) : VectorXd(m.rowwise().norm()));
}

/// How long the product with the source can be.
double length_times(const MatrixXd& m, double size, bool box) {
    const double norm = spectral_norm(m.rows() < m.cols() ? MatrixXd(m.transpose()) : m);
    if (!box) return size * norm;
    const double root = std::sqrt(static_cast<double>(m.cols()));
    return size * std::min(norm * root, m.cwiseAbs().rowwise().sum().norm());
}

}  // namespace

SupportRecursion::SupportRecursion(const BlockNetwork& network, const Support& support, double B,
                                   double noise, double rounding)
    : network_(&network),
      norm_(B),
      noise_(noise),
      rounding_(rounding),
      error_(B),
      error_before_(B) {
    auto next = support.entries.begin();
    for (Index i = 0; i < network.A.cols(); ++i) {
        const bool inside = next != support.entries.end() && static_cast<Index>(*next) == i;
        if (inside) ++next;
        (inside ? inside_ : outside_).push_back(i);
    }
    a_ = network.A(Eigen::all, inside_);
    if (rounding > 0) {
        operator_norm_ = spectral_norm(a_);
        absolute_norm_ = spectral_norm(a_.cwiseAbs());
    }
    const auto s = static_cast<Index>(inside_.size());
    Source x{B, false, -MatrixXd::Identity(s, s), {}, {}};
    x.before = x.now;
    sources_.push_back(std::move(x));
    if (noise > 0) {
        Source e{noise, false, MatrixXd::Zero(s, a_.rows()), {}, {}};
        e.before = e.now;
        sources_.push_back(std::move(e));
    }
    if (network.spec.update.residual_threshold) {
        const Eigen::ColPivHouseholderQR<MatrixXd> qr(a_);
        if (qr.rank() == s) range_ = qr.householderQ() * MatrixXd::Identity(a_.rows(), s);
    }
    enter();
}

double SupportRecursion::residual(const std::vector<MatrixXd>& v) const {
    double length = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        MatrixXd r = a_ * v[i];
        if (i == 1 && noise_ > 0) r.diagonal().array() -= 1;
        length += length_times(r, sources_[i].size, sources_[i].box);
    }
    return length;
}

void SupportRecursion::enter() {
    const NetworkSpec& spec = network_->spec;
    if (k_ == spec.layers) return;
    const MatrixXd& w = network_->W[k_];
    const MatrixXd inner = w(Eigen::all, inside_).transpose();  // W_S^T
    const MatrixXd outer = w(Eigen::all, outside_).transpose();
    const MatrixXd step = step_matrix(inner * a_, spec.delta);
    const MatrixXd leaks = outer * a_;
    const double beta = network_->beta[k_];

    std::vector<MatrixXd> v;
    VectorXd z = VectorXd::Zero(outer.rows()), entry = VectorXd::Zero(inner.rows());
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        Source& source = sources_[i];
        v.push_back(beta == 0 ? source.now : (1 + beta) * source.now - beta * source.before);
        source.moved = step * v.back();
        MatrixXd out = leaks * v.back();
        if (i == 0) source.moved.diagonal().array() -= 1 - spec.delta;
        if (i == 1 && noise_ > 0) {
            source.moved += inner;
            out -= outer;
        }
        z += rows_times(out, source.size, source.box);
        entry += rows_times(source.moved, source.size, source.box);
    }
    double length = 0, carried = 0;
    if (spec.update.residual_threshold || spec.update.onsager) length = residual(v);
    if (spec.update.onsager && k_ > 0) {
        const double share =
            std::min(1.0, static_cast<double>(inside_.size()) / static_cast<double>(a_.rows()));
        carried = std::abs(network_->omega[k_]) * share * residual_;
        if (carried > 0) {
            z += rows_times(outer, carried, false);
            entry += rows_times(inner, carried, false);
            const MatrixXd none = MatrixXd::Zero(inner.rows(), inner.cols());
            sources_.push_back({carried, false, none, none, inner});
        }
    }
    residual_ = length + carried;
    reach_ = norm_ + entry.maxCoeff();
    needed_ = spec.update.residual_threshold ? leak(outer) : z.size() > 0 ? z.maxCoeff() : 0;
    if (rounding_ == 0) return;
    const double moved =
        k_ == 0 ? norm_ : std::abs(1 + beta) * error_ + std::abs(beta) * error_before_;
    const double mixed = k_ == 0 ? 0 : extra_of_momentum(beta) * norm_;
    rounded_ = rounding_of({rounding_, network_->m(), inside_.size(), w.colwise().norm().maxCoeff(),
                            operator_norm_, absolute_norm_, moved + mixed, norm_, noise_});
    // What a threshold that follows the residual, or a carried residual, makes of it is open.
    if (spec.update.residual_threshold || spec.update.onsager)
        rounded_ = std::numeric_limits<double>::infinity();
    if (z.size() > 0) needed_ += rounded_;
}

/// Of thresholds that scale with mean|r|: outside S z_i = -W_i^T r, and the sum of |r| is at least
/// ||r||^2 / max|r|.
double SupportRecursion::leak(const MatrixXd& outer) const {
    if (outer.rows() == 0) return 0;
    const auto m = static_cast<double>(a_.rows());
    // A residual that is carried over lies in the same range.
    if (noise_ > 0 || range_.size() == 0) return m * outer.rowwise().norm().maxCoeff();
    return m * (outer * range_).rowwise().norm().maxCoeff() * range_.rowwise().norm().maxCoeff();
}

double SupportRecursion::advance(const Shrink& shrink) {
    const NetworkSpec& spec = network_->spec;
    const auto s = static_cast<Index>(inside_.size());
    // mean|r| <= ||r|| / sqrt(m)
    const double reach = reach_ + rounded_;
    const double shift = rounded_ + rounding_within(shrink, rounding_, reach) +
                         (spec.update.residual_threshold
                              ? shrink.theta * residual_ / std::sqrt(static_cast<double>(a_.rows()))
                              : deviation(shrink, reach));
    double length = 0;
    VectorXd entry = VectorXd::Constant(s, shift);
    for (Source& source : sources_) {
        source.before = std::move(source.now);
        source.now = std::move(source.moved);
        length += length_times(source.now, source.size, source.box);
        entry += rows_times(source.now, source.size, source.box);
    }
    length += shift * std::sqrt(static_cast<double>(s));
    if (!(shift <= 0))
        sources_.push_back({shift, true, MatrixXd::Identity(s, s), MatrixXd::Zero(s, s), {}});
    ++k_;
    error_before_ = error_;
    error_ = std::min(length, entry.norm());
    enter();
    return error_;
}

}  // namespace pibinn
