#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "pibinn/omp.hpp"
#include "solvers/checks.hpp"
#include "solvers/pursuit.hpp"

namespace pibinn {

namespace {

// Of the noise level. The fit to k columns explains a part of the noise too, and a faint entry may
// cost more when it is missed than when it is fitted to noise.
constexpr std::array kNoiseFactors{1.0, 0.7, 0.8, 0.9, 1.1, 1.2, 1.35, 1.5};

}  // namespace

/// The squared error of every signal by every candidate rule, summed over its blocks.
struct OmpSolver::Paths {
    std::vector<OmpOptions> rules;  ///< by noise
    Matrix<double> by_noise;        ///< one column per rule
    Matrix<double> by_sparsity;     ///< column k: at k groups per block

    Paths(const NoiseLevel& noise, std::size_t rows, std::size_t most)
        : rules(rules_of(noise)), by_noise(rows, rules.size()), by_sparsity(rows, most + 1) {}

    static std::vector<OmpOptions> rules_of(const NoiseLevel& noise) {
        std::vector<OmpOptions> rules;
        for (const double factor : kNoiseFactors) {
            if (noise.deviation > 0) rules.push_back({.noise_std = factor * noise.deviation});
            if (noise.share > 0) rules.push_back({.tolerance = factor * noise.share});
        }
        if (rules.empty()) rules.emplace_back();
        return rules;
    }

    /// Follows a pursuit as far as any rule does, and adds the error where each of them stops.
    void follow(Pursuit& p, std::span<const float> truth, std::size_t i) {
        const std::size_t most = by_sparsity.cols() - 1;
        const double rounding = p.goal(OmpOptions{}.tolerance, 0);
        std::vector<double> goals;
        for (const OmpOptions& rule : rules)
            goals.push_back(p.goal(rule.tolerance, rule.noise_std));
        const double lowest = *std::min_element(goals.begin(), goals.end());
        std::vector<bool> stopped(goals.size());
        double error = squared_norm(p, truth);
        for (bool going = true; going;) {
            for (std::size_t f = 0; f < goals.size(); ++f)
                if (!stopped[f] && p.residual() <= goals[f]) {
                    stopped[f] = true;
                    by_noise(i, f) += error;
                }
            if (p.groups() <= most) by_sparsity(i, p.groups()) += error;
            const double wanted = p.groups() < most ? rounding : lowest;
            going = p.residual() > wanted && p.groups() < p.most_groups() && p.step();
            if (going) error = error_of(p, truth);
        }
        for (std::size_t f = 0; f < goals.size(); ++f)
            if (!stopped[f]) by_noise(i, f) += error;
        for (std::size_t k = p.groups() + 1; k <= most; ++k) by_sparsity(i, k) += error;
    }

    static double squared_norm(const Pursuit& p, std::span<const float> truth) {
        double sum = 0;
        p.layout().for_each([&](std::size_t j) { sum += p.layout().energy(truth, j); });
        return sum;
    }

    static double error_of(Pursuit& p, std::span<const float> truth) {
        p.fit();
        double error = squared_norm(p, truth);
        p.for_each_fitted([&](std::size_t entry, double value) {
            const double x = truth[entry];
            error += (value - x) * (value - x) - x * x;
        });
        return error;
    }
};

OmpChoices OmpSolver::best_stops(const DataSet& pairs, const NoiseLevel& noise,
                                 ThreadPool& pool) const {
    require_pairs(structure_, pairs.x, pairs.y);
    // Non-zero groups of the fullest block of any signal.
    std::size_t support = 1;
    const std::size_t u = structure_.repeat(), n = structure_.cols() / u;
    std::size_t most = 0;
    for (const UnitColumns& block : blocks_) {
        const Pursuit pursuit(block, grouping_, n, pool);
        most = std::max(most, pursuit.most_groups());
        for (std::size_t i = 0; i < pairs.x.rows(); ++i)
            for (std::size_t k = 0; k < u; k += grouping_.rows) {
                const auto entries = pairs.x.row(i).subspan(k * n + block.col);
                std::size_t present = 0;
                pursuit.layout().for_each([&](std::size_t j) {
                    present += pursuit.layout().energy(entries, j) > 0 ? 1 : 0;
                });
                support = std::max(support, present);
            }
    }
    most = std::min(most, 2 * support);

    Paths paths(noise, pairs.x.rows(), most);
    for_each_block(pairs.y, pool, [&](Pursuit& p, std::size_t i, std::size_t first) {
        paths.follow(p, pairs.x.row(i).subspan(first), i);
    });
    const auto mean_db = [&](const Matrix<double>& errors, std::size_t candidate) {
        return mean_nmse_db(pairs.x, [&](std::size_t i) { return errors(i, candidate); });
    };
    const OmpChoice none{{}, std::numeric_limits<double>::infinity()};
    OmpChoices best{none, none};
    for (std::size_t f = 0; f < paths.rules.size(); ++f)
        if (const double db = mean_db(paths.by_noise, f); db < best.by_noise.nmse_db)
            best.by_noise = {paths.rules[f], db};
    for (std::size_t k = 1; k <= most; ++k)
        if (const double db = mean_db(paths.by_sparsity, k); db < best.by_sparsity.nmse_db)
            best.by_sparsity = {{.sparsity = k}, db};
    return best;
}

}  // namespace pibinn
