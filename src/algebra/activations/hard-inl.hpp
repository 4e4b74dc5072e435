// The hard threshold: z where |z| >= tau, otherwise 0.

#ifndef PIBINN_ACTIVATION_HARD
#define PIBINN_ACTIVATION_HARD

#include <cmath>

#include "algebra/activations/activation_rules.hpp"

namespace pibinn {

template <>
struct ActivationOf<Activation::hard> {
    static constexpr ActivationRules rules{.thresholds = ActivationRules::Thresholds::one,
                                           .learning = ThresholdLearning::by_ramp,
                                           .bound = ContractionBound::hard,
                                           .homogeneous = true};

    template <class T>
    static T apply(T z, const ActivationNumbers<T>& numbers) {
        const T tau = numbers.tau;
        if (!(z >= tau || z <= -tau)) return T{0};
        return numbers.softening == 0 ? z : z - std::copysign(numbers.softening * tau, z);
    }
};

}  // namespace pibinn

#endif

// Once per target, for kernels that include Highway.
#if defined(HWY_NAMESPACE) && defined(PIBINN_ACTIVATION_HARD_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_ACTIVATION_HARD_TARGET
#undef PIBINN_ACTIVATION_HARD_TARGET
#else
#define PIBINN_ACTIVATION_HARD_TARGET
#endif

HWY_BEFORE_NAMESPACE();
namespace pibinn::activation::HWY_NAMESPACE {

template <class V>
HWY_INLINE V Apply(ActivationTag<Activation::hard>, V z, const ActivationNumbers<V>& numbers) {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::IfThenElseZero(hn::Ge(hn::Abs(z), numbers.tau),
                              hn::Sub(z, hn::CopySign(hn::Mul(numbers.softening, numbers.tau), z)));
}

}  // namespace pibinn::activation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
