// z where z >= 0, otherwise 0. It has no threshold.

#ifndef PIBINN_ACTIVATION_RELU
#define PIBINN_ACTIVATION_RELU

#include "algebra/activations/activation_rules.hpp"

namespace pibinn {

template <>
struct ActivationOf<Activation::relu> {
    static constexpr ActivationRules rules{.homogeneous = true};

    template <class T>
    static T apply(T z, const ActivationNumbers<T>&) {
        return z > T{0} ? z : T{0};
    }
};

}  // namespace pibinn

#endif

// Once per target, for kernels that include Highway.
#if defined(HWY_NAMESPACE) && defined(PIBINN_ACTIVATION_RELU_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_ACTIVATION_RELU_TARGET
#undef PIBINN_ACTIVATION_RELU_TARGET
#else
#define PIBINN_ACTIVATION_RELU_TARGET
#endif

HWY_BEFORE_NAMESPACE();
namespace pibinn::activation::HWY_NAMESPACE {

template <class V>
HWY_INLINE V Apply(ActivationTag<Activation::relu>, V z, const ActivationNumbers<V>&) {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::Max(z, hn::Zero(hn::DFromV<V>()));
}

}  // namespace pibinn::activation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
