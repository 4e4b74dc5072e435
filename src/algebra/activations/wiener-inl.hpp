// The gain of compressible signals: x = z E / (E + tau^2), E the energy that an entry is expected
// to have. Where E comes from, the prior of an entry and the energy around it, only those know who
// see a whole row (algebra/cpu/site_shrink.hpp); one number alone is taken for one of variance 1.

#ifndef PIBINN_ACTIVATION_WIENER
#define PIBINN_ACTIVATION_WIENER

#include "algebra/activations/activation_rules.hpp"

namespace pibinn {

template <>
struct ActivationOf<Activation::wiener> {
    static constexpr ActivationRules rules{.thresholds = ActivationRules::Thresholds::one,
                                           .learning = ThresholdLearning::always,
                                           .by_sites = true};

    template <class T>
    static T apply(T z, const ActivationNumbers<T>& numbers) {
        return z / (T{1} + numbers.tau * numbers.tau);
    }
};

}  // namespace pibinn

#endif

// Once per target, for kernels that include Highway.
#if defined(HWY_NAMESPACE) && defined(PIBINN_ACTIVATION_WIENER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_ACTIVATION_WIENER_TARGET
#undef PIBINN_ACTIVATION_WIENER_TARGET
#else
#define PIBINN_ACTIVATION_WIENER_TARGET
#endif

HWY_BEFORE_NAMESPACE();
namespace pibinn::activation::HWY_NAMESPACE {

template <class V>
HWY_INLINE V Apply(ActivationTag<Activation::wiener>, V z, const ActivationNumbers<V>& numbers) {
    namespace hn = hwy::HWY_NAMESPACE;
    const V one = hn::Set(hn::DFromV<V>(), 1.0F);
    return hn::Div(z, hn::MulAdd(numbers.tau, numbers.tau, one));
}

}  // namespace pibinn::activation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
