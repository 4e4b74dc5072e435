#include "train/cut.hpp"

#include <algorithm>
#include <limits>

#include "pibinn/metrics.hpp"

namespace pibinn {

namespace {

// 0 keeps all that the last layer left; a tenth of the largest entry lost up to 19 dB.
constexpr float kCuts[] = {0.0F, 0.003F, 0.006F, 0.01F, 0.015F, 0.02F, 0.03F, 0.05F, 0.1F};
// Enough to tell cuts apart.
constexpr std::size_t kMostSignals = 2000;

}  // namespace

void choose_cut(const DataSet& signals, Model& model, ThreadPool& pool) {
    if (model.spec.polish == 0) return;
    const std::size_t rows = std::min(signals.x.rows(), kMostSignals);
    const ConstBatchView x = signals.x.view().row_range(0, rows);
    const ConstBatchView y = signals.y.view().row_range(0, rows);
    double least = std::numeric_limits<double>::infinity();
    float best = model.cut[0];
    for (const float cut : kCuts) {
        model.cut[0] = cut;
        const double error = measure(x, recover_coefficients(model, y, pool)).energy_nmse_db;
        if (error < least) {
            least = error;
            best = cut;
        }
    }
    model.cut[0] = best;
}

}  // namespace pibinn
