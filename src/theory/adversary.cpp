#include "theory/adversary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/activate.hpp"
#include "pibinn/random.hpp"

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t kClimbs = 60;
constexpr double kFirstStep = 0.5, kLastStep = 0.02;  // of the length of a signal

/// A signal with its noise.
struct Point {
    VectorXd x, e;
};

/// One run with what its gradient needs.
struct Trace {
    std::vector<VectorXd> x, slope;  ///< of every layer
    std::vector<double> carry;       ///< the factor of r_{k-1} in r_k
};

Trace run(const BlockNetwork& network, const VectorXd& y) {
    const NetworkSpec& spec = network.spec;
    Trace trace;
    VectorXd before = VectorXd::Zero(network.A.cols()), x = before, r;
    for (std::size_t k = 0; k < spec.layers; ++k) {
        const VectorXd v = x + network.beta[k] * (x - before);
        VectorXd residual = network.A * v - y;
        double carry = 0;
        if (spec.update.onsager && k > 0) {
            const auto count = static_cast<double>((x.array() != 0).count());
            carry = network.omega[k] * count / static_cast<double>(network.m());
            residual += carry * r;
        }
        r = std::move(residual);
        const VectorXd z = spec.delta * v - network.W[k].transpose() * r;
        const double unit =
            spec.update.residual_threshold ? r.lpNorm<1>() / static_cast<double>(network.m()) : 1;
        const Shrink shrink = network.shrink(k);
        ActivationNumbers<double> numbers{shrink.theta * unit, 0};
        numbers.pieces = shrink.thresholds.size();
        numbers.thresholds = shrink.thresholds.data();
        numbers.gains = shrink.gains.data();
        VectorXd out(z.size()), slope(z.size());
        for (Index j = 0; j < z.size(); ++j) {
            out[j] = activate(spec.activation, z[j], numbers);
            slope[j] = onsager_slope(spec.activation, z[j], out[j], numbers);
        }
        before = std::move(x);
        x = out;
        trace.x.push_back(std::move(out));
        trace.slope.push_back(std::move(slope));
        trace.carry.push_back(carry);
    }
    return trace;
}

/// The gradient with respect to y of a function of x_K with gradient `last`. A threshold that
/// follows the residual counts as a constant: a search need not be exact.
VectorXd gradient_of_y(const BlockNetwork& network, const Trace& trace, VectorXd last) {
    const std::size_t K = trace.x.size();
    VectorXd gy = VectorXd::Zero(network.A.rows()), gr = gy;
    VectorXd before = VectorXd::Zero(network.A.cols());
    for (std::size_t k = K; k-- > 0;) {
        const VectorXd gz = last.cwiseProduct(trace.slope[k]);
        gr = (k + 1 < K ? trace.carry[k + 1] : 0.0) * gr - network.W[k] * gz;
        const VectorXd gv = network.spec.delta * gz + network.A.transpose() * gr;
        gy -= gr;
        last = before + (1 + network.beta[k]) * gv;
        before = -network.beta[k] * gv;
    }
    return gy;
}

/// The entries of the largest sizes; `allowed` of a support, all without one.
void keep_largest(VectorXd& x, const Support* support, std::size_t size) {
    std::vector<Index> order(static_cast<std::size_t>(x.size()));
    std::iota(order.begin(), order.end(), Index{0});
    if (support) {
        VectorXd kept = VectorXd::Zero(x.size());
        for (const std::uint32_t j : support->entries) kept[j] = x[j];
        x = kept;
        return;
    }
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size), order.end(),
                     [&](Index a, Index b) { return std::abs(x[a]) > std::abs(x[b]); });
    for (std::size_t i = size; i < order.size(); ++i) x[order[i]] = 0;
}

void shorten(VectorXd& v, double most) {
    const double length = v.norm();
    if (length > most) v *= most / length;
}

class Adversary {
public:
    Adversary(const BlockNetwork& network, const Support* support, const AttackedClass& signals,
           bool for_leaks)
        : network_(network),
          support_(support),
          signals_(signals),
          size_(std::min(signals.size, network.n())),
          for_leaks_(for_leaks) {
        found_.error.assign(network.spec.layers, 0);
    }

    Attack from(Stream& stream) {
        Point point;
        point.x = VectorXd::Zero(network_.A.cols());
        for (double& v : point.x) v = stream.normal();
        keep_largest(point.x, support_, size_);
        point.x *= signals_.B / point.x.norm();
        point.e = VectorXd::Zero(network_.A.rows());
        for (double& v : point.e) v = stream.normal();
        point.e *= signals_.noise / point.e.norm();
        for (std::size_t step = 0; step < kClimbs; ++step) {
            const double t = static_cast<double>(step) / static_cast<double>(kClimbs - 1);
            climb(point, kFirstStep * std::pow(kLastStep / kFirstStep, t));
        }
        return found_;
    }

private:
    void climb(Point& point, double step) {
        const Trace trace = run(network_, network_.A * point.x + point.e);
        note(trace, point.x);
        VectorXd last = trace.x.back() - point.x, gx = -last;
        if (for_leaks_) {
            // Towards whatever is nearest to its threshold outside the support: the first layer
            // answers linearly.
            gx.setZero();
            const VectorXd z = network_.W[0].transpose() * (network_.A * point.x + point.e);
            Index most = -1;
            for (Index j = 0; j < z.size(); ++j)
                if (point.x[j] == 0 && (most < 0 || std::abs(z[j]) > std::abs(z[most]))) most = j;
            if (most < 0) return;
            const VectorXd gy = std::copysign(1.0, z[most]) * network_.W[0].col(most);
            move(point, network_.A.transpose() * gy, gy, step);
            return;
        }
        const VectorXd gy = gradient_of_y(network_, trace, last);
        gx += network_.A.transpose() * gy;
        move(point, gx, gy, step);
    }

    void move(Point& point, const VectorXd& gx, const VectorXd& gy, double step) {
        if (gx.norm() > 0) point.x += step * signals_.B / gx.norm() * gx;
        keep_largest(point.x, support_, size_);
        shorten(point.x, signals_.B);
        if (gy.norm() > 0) point.e += step * signals_.noise / gy.norm() * gy;
        shorten(point.e, signals_.noise);
    }

    void note(const Trace& trace, const VectorXd& x) {
        for (std::size_t k = 0; k < trace.x.size(); ++k) {
            found_.error[k] = std::max(found_.error[k], (trace.x[k] - x).norm());
            for (Index j = 0; j < x.size(); ++j)
                found_.leaked |= x[j] == 0 && trace.x[k][j] != 0 &&
                                 (!support_ || !std::binary_search(support_->entries.begin(),
                                                                   support_->entries.end(),
                                                                   static_cast<std::uint32_t>(j)));
        }
        ++found_.signals;
    }

    const BlockNetwork& network_;
    const Support* support_;
    const AttackedClass& signals_;
    std::size_t size_;
    bool for_leaks_;
    Attack found_;
};

}  // namespace

Attack attack(const std::vector<BlockNetwork>& networks, const AttackedClass& signals,
              std::size_t starts, std::uint64_t seed, ThreadPool& pool) {
    std::vector<Attack> found(starts);
    pool.run(starts, [&](std::size_t i) {
        Stream stream(seed, Purpose::attack, i);
        const Support* support =
            signals.supports.empty() ? nullptr : &signals.supports[i / 2 % signals.supports.size()];
        const BlockNetwork& network = networks[support ? support->block : i / 2 % networks.size()];
        found[i] = Adversary(network, support, signals, i % 2 == 1).from(stream);
    });
    Attack all;
    all.starts = starts;
    all.error.assign(networks.front().spec.layers, 0);
    for (const Attack& one : found) {
        for (std::size_t k = 0; k < all.error.size(); ++k)
            all.error[k] = std::max(all.error[k], one.error[k]);
        all.signals += one.signals;
        all.leaked |= one.leaked;
    }
    return all;
}

}  // namespace pibinn
