#include "problem/common_mean.hpp"

#include <algorithm>
#include <cmath>

#include "algebra/centre.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// A block of fewer measurements cannot spare one.
constexpr std::size_t kLeastRows = 10;
// ||A||^2 over that without the mean. Random operators have 1.02, blurs of 5 x 5 on 16 x 16 1.2,
// three ones per column of 50 x 100 1.45, zeros and ones of that size 13.
constexpr double kOvershoots = 1.3;
// Of the energy of columns less their means, on average: what a column must keep.
constexpr double kLeastKept = 0.1;
// Enough to tell; and for a step.
constexpr int kStepsToTell = 12, kStepsToUse = 60;

std::span<const float> links_of(const Operator& op, const Block& block) {
    return op.values().subspan(block.first_link, block.links());
}

/// Energies of all columns of a block, less those of their means where residuals are centred.
std::vector<double> column_energies(const Block& block, std::span<const float> links,
                                    bool centred) {
    std::vector<double> energies(block.cols);
    for (std::size_t j = 0; j < block.cols; ++j) {
        double sum = 0;
        for (std::size_t l = block.column_begin(j); l < block.column_begin(j + 1); ++l) {
            sum += links[l];
            energies[j] += double{links[l]} * links[l];
        }
        if (centred) energies[j] -= sum * sum / static_cast<double>(block.rows);
    }
    return energies;
}

/// x = A^T P A x for a block, P the identity unless residuals are centred.
void multiply(const Block& block, std::span<const float> links, bool centred,
              std::vector<double>& x, std::vector<double>& y) {
    const auto visit = [&](const auto& use) {
        for (std::size_t j = 0; j < block.cols; ++j)
            for (std::size_t l = block.column_begin(j); l < block.column_begin(j + 1); ++l)
                use(block.full() ? l - j * block.rows : block.row_indices[l], j, links[l]);
    };
    y.assign(block.rows, 0);
    visit([&](std::size_t i, std::size_t j, double a) { y[i] += a * x[j]; });
    if (centred) {
        double mean = 0;
        for (const double v : y) mean += v / static_cast<double>(y.size());
        for (double& v : y) v -= mean;
    }
    std::fill(x.begin(), x.end(), 0.0);
    visit([&](std::size_t i, std::size_t j, double a) { x[j] += a * y[i]; });
}

/// The largest eigenvalue of A^T P A, from a start that has a share of every direction.
double squared_norm(const Block& block, std::span<const float> links, bool centred, int steps) {
    std::vector<double> x(block.cols), y;
    for (std::size_t j = 0; j < x.size(); ++j)
        x[j] = 0.3 + (j % 2 == 0 ? 1.0 : -1.0) * (1 + static_cast<double>(j % 7));
    double length = 0;
    for (int step = 0; step <= steps; ++step) {
        length = 0;
        for (const double v : x) length += v * v;
        length = std::sqrt(length);
        if (length == 0 || step == steps) break;
        for (double& v : x) v /= length;
        multiply(block, links, centred, x, y);
    }
    return length;
}

double squared_norm(const Operator& op, bool centred, int steps) {
    double largest = 0;
    for (const Block& block : op.structure().parts())
        largest = std::max(largest, squared_norm(block, links_of(op, block), centred, steps));
    return largest;
}

/// Whether every column that has any energy is still measured without the mean.
bool keeps_columns(const Operator& op) {
    const double mean = column_energy(op, true);
    for (const Block& block : op.structure().parts()) {
        if (block.rows < kLeastRows) return false;
        const auto links = links_of(op, block);
        const auto before = column_energies(block, links, false);
        const auto after = column_energies(block, links, true);
        for (std::size_t j = 0; j < block.cols; ++j)
            if (before[j] > 0 && !(after[j] > kLeastKept * mean)) return false;
    }
    return mean > 0;
}

}  // namespace

bool has_common_mean(const Operator& op) {
    if (op.structure().is_complex() || op.structure().parts().empty() || !keeps_columns(op))
        return false;
    return squared_norm(op, false, kStepsToTell) >
           kOvershoots * squared_norm(op, true, kStepsToTell);
}

double centred_squared_norm(const Operator& op) { return squared_norm(op, true, kStepsToUse); }

double column_energy(const Operator& op, bool centred) {
    double sum = 0;
    std::size_t columns = 0;
    for (const Block& block : op.structure().parts()) {
        columns += block.cols;
        for (const double energy : column_energies(block, links_of(op, block), centred))
            sum += energy;
    }
    return sum / static_cast<double>(columns);
}

std::vector<float> starting_links(const Operator& op, bool centred) {
    std::vector<float> links(op.values().begin(), op.values().end());
    if (!centred) return links;
    for (const Block& block : op.structure().parts())
        if (block.full())
            std::ranges::copy(levelled_columns(block, links_of(op, block)),
                              links.begin() + static_cast<std::ptrdiff_t>(block.first_link));
    return links;
}

void require_centre(const Operator& op) {
    if (op.structure().is_complex())
        fail_usage(
            "the rows of a complex operator hold real and imaginary parts, which have no "
            "mean in common",
            "leave NetworkSpec::centre off");
    if (!(column_energy(op, true) > 1e-6 * column_energy(op, false)))
        fail_usage("nothing is left of the operator's columns less their means",
                   "leave NetworkSpec::centre off");
}

}  // namespace pibinn
