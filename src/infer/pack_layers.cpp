#include <cmath>

#include "infer/pack.hpp"

namespace pibinn {

namespace {

/// Before the first layer there is nothing to remember.
double momentum(const Model& model, std::size_t k) {
    return model.beta.empty() || k == 0 ? 0.0F : model.beta[k];
}

/// 1 + beta, by which residuals are divided. Where it is zero the misfit does not count: as little
/// of it as this is lost in rounding.
double residual_unit(const Model& model, std::size_t k) {
    constexpr double least = 0x1p-40;
    const double unit = 1.0 + momentum(model, k);
    return std::abs(unit) < least ? least : unit;
}

/// The factor of x in the input of layer k.
double entry_factor(const Model& model, std::size_t k) {
    return model.spec.delta * (1.0 + momentum(model, k));
}

/// What x is multiplied by in kernels, around one layer.
struct EntryUnits {
    double rescale = 1;  ///< what the layer multiplies all that is held by first
    double in = 1;       ///< c
    double out = 1;      ///< the next c

    double step() const { return in / out; }
};

std::vector<EntryUnits> entry_units(const Model& model) {
    std::vector<EntryUnits> units(model.spec.layers);
    double c = 1;
    for (std::size_t k = 1; k < model.spec.layers; ++k) {  // in the first layer x is zero
        // Near 1, so that signals far from it keep almost all of the range of floats.
        if (c < 0x1p-12 || c > 0x1p12) units[k].rescale = std::exp2(-std::round(std::log2(c)));
        units[k].in = c * units[k].rescale;
        const double factor = entry_factor(model, k);
        const bool moderate = factor > 0.125 && factor < 8;
        c = units[k].out = moderate ? units[k].in / factor : units[k].in;
    }
    return units;
}

}  // namespace

std::vector<PackedLayer> pack_layers(const Model& model, std::size_t m) {
    const auto rows = static_cast<double>(m);
    const std::vector<EntryUnits> units = entry_units(model);
    std::vector<PackedLayer> layers(model.spec.layers);
    for (std::size_t k = 0; k < layers.size(); ++k) {
        PackedLayer& layer = layers[k];
        const double beta = momentum(model, k);
        const double unit = residual_unit(model, k);
        const double step = units[k].step();
        const double prev_step = k == 0 ? 1.0 : units[k - 1].step();
        const double scale = unit / step;
        layer.scale = static_cast<float>(scale);
        layer.rescale = static_cast<float>(units[k].rescale);
        if (!model.theta.empty()) {
            const bool pieces =
                model.spec.has_gains() || (!model.spec.entrywise() && !model.spec.has_prior());
            const double theta = pieces ? 1.0 : model.theta[k];
            layer.theta = static_cast<float>(model.spec.update.residual_threshold
                                                 ? theta * std::abs(scale) / rows
                                                 : theta * units[k].out) +
                          0.0F;  // never -0: thresholds are compared as integers
        }
        layer.y_factor = static_cast<float>(units[k].in);
        layer.prev_residual_factor = static_cast<float>(beta / (unit * prev_step));
        if (!model.omega.empty() && k > 0)
            layer.omega = static_cast<float>(model.omega[k] * residual_unit(model, k - 1) /
                                             (unit * prev_step * rows));
        layer.prev_x_factor = static_cast<float>(model.spec.delta * beta / (step * prev_step));
        layer.x_unit = static_cast<float>(1.0 / units[k].out);
        const double mix_x = 1.0 - entry_factor(model, k) / step;
        if (k > 0 && std::abs(mix_x) > 1e-9) {
            layer.mix_x = static_cast<float>(mix_x);
            layer.mix_prev = layer.prev_x_factor;
            layer.prev_x_factor = 1;
        }
    }
    return layers;
}

}  // namespace pibinn
