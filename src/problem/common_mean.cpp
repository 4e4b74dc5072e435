#include "problem/common_mean.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pibinn {

namespace {

// A block of fewer measurements cannot spare one.
constexpr std::size_t kLeastRows = 10;
// Of a column's energy, at most this may be its mean's.
constexpr double kMostOfColumn = 0.9;
// Means that point one way: |sum| over the sum of magnitudes. Random signs of 30 columns reach 0.4.
constexpr double kCoherent = 0.9;
// The mean's squared singular value over the squared norm of a column: a step that suits a column
// overshoots beyond 2.
constexpr double kOvershoots = 2;

struct ColumnSums {
    double sum = 0, energy = 0;
};

ColumnSums sums_of(const Block& block, std::span<const float> links, std::size_t j) {
    ColumnSums sums;
    for (std::size_t l = block.column_begin(j); l < block.column_begin(j + 1); ++l) {
        sums.sum += links[l];
        sums.energy += double{links[l]} * links[l];
    }
    return sums;
}

bool has_common_mean(const Block& block, std::span<const float> links) {
    if (block.rows < kLeastRows) return false;
    const auto rows = static_cast<double>(block.rows);
    double signed_sum = 0, magnitudes = 0, of_means = 0, energy = 0;
    for (std::size_t j = 0; j < block.cols; ++j) {
        const ColumnSums column = sums_of(block, links, j);
        const double of_mean = column.sum * column.sum / rows;
        if (of_mean > kMostOfColumn * column.energy) return false;
        signed_sum += column.sum;
        magnitudes += std::abs(column.sum);
        of_means += of_mean;
        energy += column.energy;
    }
    return std::abs(signed_sum) > kCoherent * magnitudes &&
           of_means * static_cast<double>(block.cols) > kOvershoots * energy;
}

std::span<const float> links_of(const Operator& op, const Block& block) {
    return op.values().subspan(block.first_link, block.links());
}

}  // namespace

bool has_common_mean(const Operator& op) {
    const Structure& s = op.structure();
    if (s.is_complex() || op.formula() != nullptr || s.parts().empty()) return false;
    return std::ranges::all_of(
        s.parts(), [&](const Block& block) { return has_common_mean(block, links_of(op, block)); });
}

double centred_squared_norm(const Operator& op) {
    constexpr int steps = 60;
    double largest = 0;
    for (const Block& block : op.structure().parts()) {
        const std::span<const float> links = links_of(op, block);
        std::vector<double> x(block.cols), y(block.rows);
        // Alternating signs are far from what all columns have in common.
        for (std::size_t j = 0; j < x.size(); ++j)
            x[j] = (j % 2 == 0 ? 1.0 : -1.0) * (1 + static_cast<double>(j % 7));
        double norm = 0;
        for (int step = 0; step < steps; ++step) {
            double length = 0;
            for (const double v : x) length += v * v;
            length = std::sqrt(length);
            if (length == 0) break;
            norm = step == 0 ? 0 : length;
            std::fill(y.begin(), y.end(), 0.0);
            const auto visit = [&](const auto& use) {
                for (std::size_t j = 0; j < block.cols; ++j)
                    for (std::size_t l = block.column_begin(j); l < block.column_begin(j + 1); ++l)
                        use(block.full() ? l - j * block.rows : block.row_indices[l], j, links[l]);
            };
            for (double& v : x) v /= length;
            visit([&](std::size_t i, std::size_t j, double a) { y[i] += a * x[j]; });
            double mean = 0;
            for (const double v : y) mean += v;
            mean /= static_cast<double>(y.size());
            for (double& v : y) v -= mean;
            std::fill(x.begin(), x.end(), 0.0);
            visit([&](std::size_t i, std::size_t j, double a) { x[j] += a * y[i]; });
        }
        largest = std::max(largest, norm);
    }
    return largest;
}

double column_energy(const Operator& op, bool centred) {
    double energy = 0;
    std::size_t columns = 0;
    for (const Block& block : op.structure().parts()) {
        columns += block.cols;
        for (std::size_t j = 0; j < block.cols; ++j) {
            const ColumnSums column = sums_of(block, links_of(op, block), j);
            energy += column.energy;
            if (centred) energy -= column.sum * column.sum / static_cast<double>(block.rows);
        }
    }
    return energy / static_cast<double>(columns);
}

}  // namespace pibinn
