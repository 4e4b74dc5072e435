#include "model/model_units.hpp"

#include <cmath>

namespace pibinn {

Model in_users_units(Model model, const Operator& op, const Units& units) {
    model.op = op;
    if (units.plain()) return model;
    const auto layers = static_cast<double>(model.spec.layers);
    const bool fcn = model.spec.architecture == Architecture::fcn;
    // W^T r takes measurements to signals. Fully connected layers do so step by step, with equal
    // factors, since they may share one scale.
    const double link = fcn ? std::pow(units.column, -1 / layers) : 1 / units.column;
    for (auto& layer : model.weights)
        for (float& w : layer) w = static_cast<float>(w * link);
    // Tied weights are the operator, in whose unit they already are: A^T r is so once more.
    if (model.spec.tied())
        for (float& step : model.step) step = static_cast<float>(step * link * link);
    // A threshold is in the unit of signals, or, where the residual scales it, of signals per
    // measurement.
    double unit = model.spec.update.residual_threshold ? 1 / units.column : units.signal;
    // Logarithms of variances, in the unit of signals.
    for (float& prior : model.prior) prior = static_cast<float>(prior + 2 * std::log(units.signal));
    if (fcn) unit = units.measurement();
    for (float& theta : model.theta) {
        if (fcn) unit *= link;
        theta = static_cast<float>(theta * unit);
    }
    return model;
}

}  // namespace pibinn
