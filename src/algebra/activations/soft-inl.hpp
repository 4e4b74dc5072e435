// The soft threshold: sign(z) max(|z| - tau, 0).

#ifndef PIBINN_ACTIVATION_SOFT
#define PIBINN_ACTIVATION_SOFT

#include "algebra/activations/activation_rules.hpp"

namespace pibinn {

template <>
struct ActivationOf<Activation::soft> {
    static constexpr ActivationRules rules{.thresholds = ActivationRules::Thresholds::one,
                                           .learning = ThresholdLearning::always,
                                           .bound = ContractionBound::soft,
                                           .homogeneous = true,
                                           .hides_bad_threshold = true};

    template <class T>
    static T apply(T z, const ActivationNumbers<T>& numbers) {
        const T tau = numbers.tau;
        return z > tau ? z - tau : (z < -tau ? z + tau : T{0});
    }
};

}  // namespace pibinn

#endif

// Once per target, for kernels that include Highway.
#if defined(HWY_NAMESPACE) && defined(PIBINN_ACTIVATION_SOFT_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_ACTIVATION_SOFT_TARGET
#undef PIBINN_ACTIVATION_SOFT_TARGET
#else
#define PIBINN_ACTIVATION_SOFT_TARGET
#endif

HWY_BEFORE_NAMESPACE();
namespace pibinn::activation::HWY_NAMESPACE {

template <class V>
HWY_INLINE V Apply(ActivationTag<Activation::soft>, V z, const ActivationNumbers<V>& numbers) {
    namespace hn = hwy::HWY_NAMESPACE;
    const V zero = hn::Zero(hn::DFromV<V>());
    return hn::CopySign(hn::Max(hn::Sub(hn::Abs(z), numbers.tau), zero), z);
}

}  // namespace pibinn::activation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
