#include "spectral/norm_recursion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spectral/rounding.hpp"

namespace pibinn {

namespace {

double root(std::size_t s) { return std::sqrt(static_cast<double>(s)); }

/// 0 * infinity counts as 0: what is not there is not amplified.
double times(double factor, double error) { return error == 0 ? 0 : factor * error; }

ErrorNorms mixed(const ErrorNorms& now, const ErrorNorms& before, double beta) {
    const double a = std::abs(1 + beta), b = std::abs(beta);
    return {a * now.two + b * before.two, a * now.one + b * before.one,
            a * now.most + b * before.most};
}

}  // namespace

void ErrorNorms::tighten(std::size_t s) {
    const double r = root(s);
    two = std::min({two, r * most, one, std::sqrt(one * most)});
    one = std::min({one, r * two, static_cast<double>(s) * most});
    most = std::min({most, two, one});
    two = std::min({two, r * most, one});
}

NormRecursion::NormRecursion(const BoundInputs& in) : in_(in) {
    now_ = {in.B, root(in.s) * in.B, in.B};
    before_ = now_;
    enter();
}

void NormRecursion::enter() {
    if (k_ == in_.layers.size()) return;
    const LayerTerms& layer = in_.layers[k_];
    // x_0 = x_{-1}, so the first layer has no momentum to add.
    const ErrorNorms v = k_ == 0 ? now_ : mixed(now_, before_, layer.beta);
    const double share = static_cast<double>(in_.s) / static_cast<double>(in_.least_rows);
    noise_ = in_.noise + std::abs(layer.omega) * std::min(1.0, share) * residual_;
    residual_ = in_.operator_norm * v.two + noise_;

    const double lost = std::abs(1 - in_.delta) * in_.B;
    moved_.two = times(layer.f, v.two) + lost + layer.weight * noise_;
    moved_.one = times(layer.f_column, v.one) + root(in_.s) * (lost + layer.weight * noise_);
    moved_.most = times(layer.f_row, v.most) + lost + layer.column * noise_;
    moved_.tighten(in_.s);

    const double mixed = k_ == 0 ? 0 : extra_of_momentum(layer.beta) * in_.B;
    rounded_ = rounding_of({in_.rounding, in_.most_rows, in_.s, layer.column, in_.operator_norm,
                            root(in_.s) * in_.operator_norm, v.two + mixed, in_.B, in_.noise});
    // What a threshold that follows the residual, or a carried residual, makes of it is open.
    if (in_.rounding > 0 && (in_.update.residual_threshold || in_.update.onsager))
        rounded_ = std::numeric_limits<double>::infinity();

    if (!in_.outside) return;
    if (in_.update.residual_threshold) {
        // Outside S z_i = -W_i^T r, and theta mean|r| >= theta ||r|| / m. Without noise r lies in
        // the range of A_S.
        needed_ = static_cast<double>(in_.most_rows) *
                      (in_.noise > 0 ? layer.column : layer.projected_leak) +
                  in_.threshold_radius + rounded_;
        return;
    }
    needed_ = std::min({times(layer.leak, v.two), times(layer.leak_row, v.most),
                        times(layer.leak_entry, v.one)}) +
              layer.column * noise_ + in_.threshold_radius + rounded_;
}

double NormRecursion::advance(const Shrink& shrink) {
    // mean|r| <= ||r|| / sqrt(m)
    const double unit = in_.update.residual_threshold ? residual_ / root(in_.least_rows) : 1.0;
    const double reach = in_.B + moved_.most + rounded_;
    const double shift =
        rounded_ + rounding_within(shrink, in_.rounding, reach) +
        (in_.update.residual_threshold
             ? (shrink.theta + in_.threshold_radius) * unit
             : deviation(shrink, reach) + in_.threshold_radius * steepness(shrink));
    before_ = now_;
    now_ = {moved_.two + root(in_.s) * shift, moved_.one + static_cast<double>(in_.s) * shift,
            moved_.most + shift};
    now_.tighten(in_.s);
    ++k_;
    enter();
    return now_.two;
}

}  // namespace pibinn
