#include "train/polish_choice.hpp"

#include <algorithm>
#include <limits>

#include "pibinn/metrics.hpp"

namespace pibinn {

namespace {

// Shares of the largest entry; 0 keeps all that the last layer left.
constexpr float kCuts[] = {0.0F, 0.003F, 0.006F, 0.01F, 0.015F, 0.02F, 0.03F, 0.05F, 0.1F};
// Enough to tell cuts apart.
constexpr std::size_t kMostSignals = 2000;
// Steps where nobody asked for a number: ten tied layers, 50x100 without noise, gain 10 dB by 3
// steps, 18 by 6 and 19 by 12 (nmse, seed 1).
constexpr std::size_t kUsualSteps = 6;
// What they have to gain in dB, since they cost time. With noise the shrink alone is near the best
// estimate.
constexpr double kWorthIt = 1;

double error_db(const DataSet& signals, const Model& model, ThreadPool& pool) {
    const std::size_t rows = std::min(signals.x.rows(), kMostSignals);
    return measure(signals.x.view().row_range(0, rows),
                   recover_coefficients(model, signals.y.view().row_range(0, rows), pool))
        .energy_nmse_db;
}

/// Sets the best cut and returns its error.
double best_cut(const DataSet& signals, Model& model, ThreadPool& pool) {
    double least = std::numeric_limits<double>::infinity();
    float best = model.cut[0];
    for (const float cut : kCuts) {
        model.cut[0] = cut;
        const double error = error_db(signals, model, pool);
        if (error < least) {
            least = error;
            best = cut;
        }
    }
    model.cut[0] = best;
    return least;
}

}  // namespace

void choose_cut(const DataSet& signals, Model& model, ThreadPool& pool) {
    if (model.spec.polish > 0) best_cut(signals, model, pool);
}

void choose_polish(const DataSet& signals, Model& model, ThreadPool& pool) {
    if (model.spec.polish > 0) return;
    Model polished = model;
    polished.spec.polish = kUsualSteps;
    polished.cut = {kCuts[0]};
    const double gained = error_db(signals, model, pool) - best_cut(signals, polished, pool);
    if (gained >= kWorthIt) model = std::move(polished);
}

}  // namespace pibinn
