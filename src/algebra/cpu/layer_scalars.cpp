// What CpuUnrolledPass reads of the numbers of one layer.

#include "algebra/activate.hpp"
#include "algebra/cpu/cpu_buffer.hpp"
#include "algebra/cpu/unrolled_pass.hpp"

namespace pibinn::cpu {

CpuUnrolledPass::LayerScalars::LayerScalars(const LayerSettings& settings,
                                            const LayerParameters& layer)
    : LayerSettings(settings),
      theta(number(layer.theta)),
      step(layer.step.empty() ? 1.0F : number(layer.step)),
      beta(number(layer.beta)),
      omega(number(layer.omega)),
      tied(layer.weights.empty()),
      by_sites(false) {
    if (activation == Activation::piecewise)
        pieces = {layer.theta.count, numbers(layer.theta).data(), numbers(layer.gain).data()};
    sites.activation = activation;
    sites.theta = theta;
    if (!layer.theta.empty()) {
        static constexpr float whole = 1;
        sites.pieces = pieces.count > 0 ? pieces : Pieces{1, numbers(layer.theta).data(), &whole};
    }
    sites.local = numbers(layer.local);
    sites.prior = numbers(layer.prior);
    sites.softening = softening;
    sites.ramp = ramp;
}

}  // namespace pibinn::cpu
