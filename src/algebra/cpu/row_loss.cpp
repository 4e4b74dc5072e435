#include "algebra/cpu/row_loss.hpp"

#include <cmath>

namespace pibinn::cpu {

double row_loss(RowLoss kind, ConstBatchView x, ConstBatchView target,
                std::span<const float> row_weights, std::size_t group, BatchView gradient) {
    double total = 0;
    for (std::size_t i = 0; i < x.rows; i += group) {
        float squares = 0;
        for (std::size_t row = i; row < i + group; ++row) {
            const float* a = x.row(row).data();
            const float* b = target.row(row).data();
            float* g = gradient.row(row).data();
            for (std::size_t j = 0; j < x.cols; ++j) {
                g[j] = a[j] - b[j];
                squares += g[j] * g[j];
            }
        }
        float factor = 2 * row_weights[i];
        if (kind == RowLoss::norm) {
            const float norm = std::sqrt(squares);
            factor = norm > 0 ? row_weights[i] / norm : 0.0F;
            total += static_cast<double>(row_weights[i]) * norm;
        } else if (kind == RowLoss::tempered) {
            // An error of exactly zero pulls nowhere.
            const float power = std::pow(squares, kTempered / 2);
            factor = squares > 0 ? row_weights[i] * kTempered * power / squares : 0.0F;
            total += static_cast<double>(row_weights[i]) * power;
        } else {
            total += static_cast<double>(row_weights[i]) * squares;
        }
        for (std::size_t row = i; row < i + group; ++row)
            for (float& g : gradient.row(row)) g *= factor;
    }
    return total;
}

}  // namespace pibinn::cpu
