#include "algebra/polish.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "algebra/centre.hpp"
#include "pibinn/error.hpp"

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

Polish::Polish(const Block& block, std::span<const float> operator_values, Grouping grouping,
               bool centred)
    : block_(block), values_(operator_values), grouping_(grouping), centred_(centred) {}

void Polish::find_support(float cut, BatchView x) {
    support_.clear();
    float most = 0;
    for (std::size_t e = 0; e < x.rows; ++e)
        for (const float v : x.row(e)) {
            if (!std::isfinite(v)) return;
            most = std::max(most, std::abs(v));
        }
    const std::size_t count = block_.cols / grouping_.halves;
    sizes_.assign(count, 0.0F);
    if (grouping_.trivial()) {
        for (std::size_t j = 0; j < count; ++j) sizes_[j] = std::abs(x.row(0)[j]);
    } else {
        // In a unit of their own: squares might overflow, or vanish.
        const float per_x = 1 / polish_unit({&most, 1});
        for (std::size_t e = 0; e < x.rows; ++e)
            for (std::size_t j = 0; j < block_.cols; ++j) {
                const float v = per_x * x.row(e)[j];
                sizes_[j % count] += v * v;
            }
        for (float& size : sizes_) size = std::sqrt(size);
        most = *std::max_element(sizes_.begin(), sizes_.end());
    }
    for (std::size_t half = 0; half < grouping_.halves; ++half)
        for (std::size_t j = 0; j < count; ++j)
            if (sizes_[j] > cut * most) support_.push_back(half * count + j);
}

void Polish::gather_columns() {
    const std::size_t m = block_.rows;
    columns_.assign(support_.size() * m, 0.0F);
    for (std::size_t e = 0; e < support_.size(); ++e) {
        const std::size_t begin = block_.column_begin(support_[e]);
        const std::size_t end = block_.column_begin(support_[e] + 1);
        for (std::size_t l = begin; l < end; ++l)
            columns_[e * m + (block_.full() ? l - begin : block_.row_indices[l])] = values_[l];
        if (centred_) centre(std::span(columns_).subspan(e * m, m));
    }
    const Eigen::Map<const Eigen::MatrixXf> a(columns_.data(), static_cast<Eigen::Index>(m),
                                              static_cast<Eigen::Index>(support_.size()));
    per_a_ = 1 / polish_unit(columns_);
    rounded_ = kRounded * (per_a_ * a).squaredNorm();
}

void Polish::run(std::size_t steps, float cut, std::span<const float> y, std::span<float> x) {
    run(steps, cut, ConstBatchView(y.data(), 1, y.size()), BatchView(x.data(), 1, x.size()));
}

void Polish::run(std::size_t steps, float cut, ConstBatchView y, BatchView x) {
    ensure(x.rows == grouping_.rows && y.rows == x.rows, "polish of rows that are no group");
    find_support(cut, x);
    if (steps == 0 || support_.empty() || support_.size() > block_.rows) return;
    gather_columns();
    for (std::size_t e = 0; e < x.rows; ++e) solve(steps, y.row(e), x.row(e));
}

void Polish::solve(std::size_t steps, std::span<const float> y, std::span<float> x) {
    const auto m = static_cast<Eigen::Index>(block_.rows);
    const auto count = static_cast<Eigen::Index>(support_.size());
    const auto room = [](std::vector<float>& values, Eigen::Index size) {
        values.resize(static_cast<std::size_t>(size));
        return Vector(values.data(), size);
    };
    const Eigen::Map<const Eigen::MatrixXf> a(columns_.data(), m, count);
    Vector r = room(r_, m), q = room(q_, m), p = room(p_, count), s = room(s_, count);
    const float y_unit = polish_unit(y);
    Eigen::VectorXf found(count);  // in the units of a and y
    for (Eigen::Index e = 0; e < count; ++e)
        found[e] = x[support_[static_cast<std::size_t>(e)]] / y_unit / per_a_;

    r = Eigen::Map<const Eigen::VectorXf>(y.data(), m) / y_unit;
    if (centred_) centre(r_);
    r -= a * (per_a_ * found);
    s = a.transpose() * (per_a_ * r);
    p = s;
    float gamma = s.squaredNorm();
    const float enough = kPolished * gamma;
    for (std::size_t step = 0; step < steps && gamma > enough && gamma > rounded_ * r.squaredNorm();
         ++step) {
        q = a * (per_a_ * p);
        const float alpha = gamma / q.squaredNorm();
        if (!std::isfinite(alpha)) break;  // columns that cancel
        found += alpha * p;
        r -= alpha * q;
        s = a.transpose() * (per_a_ * r);
        const float next = s.squaredNorm();
        p = s + (next / gamma) * p;
        gamma = next;
    }
    std::fill(x.begin(), x.end(), 0.0F);
    for (Eigen::Index e = 0; e < count; ++e)
        x[support_[static_cast<std::size_t>(e)]] = found[e] * y_unit * per_a_;
}

}  // namespace pibinn
