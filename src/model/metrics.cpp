#include "pibinn/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "model/metrics_sum.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// -60 dB.
constexpr double kExact = 1e-6;

struct RowError {
    double error = 0;
    double energy = 0;
};

RowError row_error(std::span<const float> truth, std::span<const float> estimate) {
    RowError row;
    for (std::size_t j = 0; j < truth.size(); ++j) {
        const double difference = double{estimate[j]} - truth[j];
        row.error += difference * difference;
        row.energy += double{truth[j]} * truth[j];
    }
    return row;
}

void require_same_shape(ConstBatchView truth, ConstBatchView estimate) {
    if (truth.rows != estimate.rows || truth.cols != estimate.cols)
        fail_input(fmt::format("{} x {} true signals against {} x {} estimates", truth.rows,
                               truth.cols, estimate.rows, estimate.cols),
                   "give one estimate for each signal");
}

double median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

double to_db(double ratio) { return 10.0 * std::log10(std::max(ratio, 1e-40)); }

void MetricsSum::add(ConstBatchView truth, ConstBatchView estimate) {
    require_same_shape(truth, estimate);
    signals_ += truth.rows;
    for (std::size_t i = 0; i < truth.rows; ++i) {
        const RowError row = row_error(truth.row(i), estimate.row(i));
        error_ += row.error;
        energy_ += row.energy;
        if (row.energy > 0) ratios_.push_back(row.error / row.energy);
        for (std::size_t j = 0; j < truth.cols; ++j) {
            const bool is = truth(i, j) != 0;
            const bool said = estimate(i, j) != 0;
            found_ += is && said;
            wrong_ += !is && said;
            missed_ += is && !said;
        }
    }
}

Metrics MetricsSum::result() const {
    Metrics metrics;
    metrics.signals = signals_;
    metrics.skipped_zero_signals = signals_ - ratios_.size();
    double sum = 0;
    for (const double ratio : ratios_) sum += ratio;
    std::vector<double> sorted = ratios_;
    metrics.nmse_db = ratios_.empty() ? 0 : to_db(sum / static_cast<double>(ratios_.size()));
    metrics.median_nmse_db = ratios_.empty() ? 0 : to_db(median(sorted));
    metrics.energy_nmse_db = energy_ > 0 ? to_db(error_ / energy_) : 0;
    const auto exact =
        std::count_if(ratios_.begin(), ratios_.end(), [](double ratio) { return ratio <= kExact; });
    metrics.exact_share =
        ratios_.empty() ? 0 : static_cast<double>(exact) / static_cast<double>(ratios_.size());
    const std::size_t all = 2 * found_ + wrong_ + missed_;
    metrics.support_f1 = all ? 2.0 * static_cast<double>(found_) / static_cast<double>(all) : 1.0;
    return metrics;
}

Metrics measure(ConstBatchView truth, ConstBatchView estimate) {
    MetricsSum sum;
    sum.add(truth, estimate);
    return sum.result();
}

std::size_t count_exact(ConstBatchView truth, ConstBatchView estimate, double tolerance) {
    require_same_shape(truth, estimate);
    std::size_t exact = 0;
    for (std::size_t i = 0; i < truth.rows; ++i) {
        bool same_support = true;
        for (std::size_t j = 0; j < truth.cols; ++j)
            same_support &= (truth(i, j) != 0) == (estimate(i, j) != 0);
        const RowError row = row_error(truth.row(i), estimate.row(i));
        exact += same_support && row.error <= tolerance * tolerance * row.energy;
    }
    return exact;
}

}  // namespace pibinn
