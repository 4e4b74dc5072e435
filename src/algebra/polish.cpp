#include "algebra/polish.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace pibinn {

namespace {

using Vector = Eigen::Map<Eigen::VectorXf>;

}  // namespace

float polish_unit(std::span<const float> values) {
    constexpr int most_exponent = 100;
    float most = 0;
    for (const float v : values) most = std::max(most, std::abs(v));
    if (most == 0 || !std::isfinite(most)) return 1;
    return std::ldexp(1.0F, std::clamp(std::ilogb(most), -most_exponent, most_exponent));
}

Polish::Polish(const Block& block, std::span<const float> operator_values)
    : block_(block), values_(operator_values) {}

void Polish::gather_columns() {
    const std::size_t m = block_.rows;
    columns_.assign(support_.size() * m, 0.0F);
    for (std::size_t e = 0; e < support_.size(); ++e) {
        const std::size_t begin = block_.column_begin(support_[e]);
        const std::size_t end = block_.column_begin(support_[e] + 1);
        for (std::size_t l = begin; l < end; ++l)
            columns_[e * m + (block_.full() ? l - begin : block_.row_indices[l])] = values_[l];
    }
}

void Polish::run(std::size_t steps, float cut, std::span<const float> y, std::span<float> x) {
    float most = 0;
    for (const float v : x) {
        if (!std::isfinite(v)) return;
        most = std::max(most, std::abs(v));
    }
    support_.clear();
    for (std::size_t j = 0; j < x.size(); ++j)
        if (std::abs(x[j]) > cut * most) support_.push_back(j);
    if (steps == 0 || support_.empty() || support_.size() > block_.rows) return;
    gather_columns();

    const auto m = static_cast<Eigen::Index>(block_.rows);
    const auto count = static_cast<Eigen::Index>(support_.size());
    const auto room = [](std::vector<float>& values, Eigen::Index size) {
        values.resize(static_cast<std::size_t>(size));
        return Vector(values.data(), size);
    };
    const Eigen::Map<const Eigen::MatrixXf> a(columns_.data(), m, count);
    Vector r = room(r_, m), q = room(q_, m), p = room(p_, count), s = room(s_, count);
    const float y_unit = polish_unit(y);
    const float per_a = 1 / polish_unit(columns_);
    Eigen::VectorXf found(count);  // in the units of a and y
    for (Eigen::Index e = 0; e < count; ++e)
        found[e] = x[support_[static_cast<std::size_t>(e)]] / y_unit / per_a;

    r = Eigen::Map<const Eigen::VectorXf>(y.data(), m) / y_unit - a * (per_a * found);
    s = a.transpose() * (per_a * r);
    p = s;
    float gamma = s.squaredNorm();
    const float enough = kPolished * gamma;
    const float rounded = kRounded * (per_a * a).squaredNorm();
    for (std::size_t step = 0; step < steps && gamma > enough && gamma > rounded * r.squaredNorm();
         ++step) {
        q = a * (per_a * p);
        const float alpha = gamma / q.squaredNorm();
        if (!std::isfinite(alpha)) break;  // columns that cancel
        found += alpha * p;
        r -= alpha * q;
        s = a.transpose() * (per_a * r);
        const float next = s.squaredNorm();
        p = s + (next / gamma) * p;
        gamma = next;
    }
    std::fill(x.begin(), x.end(), 0.0F);
    for (Eigen::Index e = 0; e < count; ++e)
        x[support_[static_cast<std::size_t>(e)]] = found[e] * y_unit * per_a;
}

}  // namespace pibinn
