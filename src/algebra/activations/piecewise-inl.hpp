// The learned shrink: sign(z) sum_j a_j max(|z| - theta_j, 0).

#ifndef PIBINN_ACTIVATION_PIECEWISE
#define PIBINN_ACTIVATION_PIECEWISE

#include <algorithm>
#include <cmath>

#include "algebra/activations/activation_rules.hpp"

namespace pibinn {

template <>
struct ActivationOf<Activation::piecewise> {
    static constexpr ActivationRules rules{.thresholds = ActivationRules::Thresholds::pieces,
                                           .learning = ThresholdLearning::always,
                                           .homogeneous = true,
                                           .hides_bad_threshold = true};

    template <class T>
    static T apply(T z, const ActivationNumbers<T>& numbers) {
        T sum{0};
        for (std::size_t j = 0; j < numbers.pieces; ++j)
            sum += numbers.gains[j] * std::max(std::abs(z) - numbers.thresholds[j], T{0});
        return std::copysign(T{1}, z) * sum;
    }

    /// dx / dz
    template <class T>
    static T slope(T z, const ActivationNumbers<T>& numbers) {
        T sum{0};
        for (std::size_t j = 0; j < numbers.pieces; ++j)
            if (std::abs(z) > numbers.thresholds[j]) sum += numbers.gains[j];
        return sum;
    }
};

}  // namespace pibinn

#endif

// Once per target, for kernels that include Highway.
#if defined(HWY_NAMESPACE) && \
    defined(PIBINN_ACTIVATION_PIECEWISE_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_ACTIVATION_PIECEWISE_TARGET
#undef PIBINN_ACTIVATION_PIECEWISE_TARGET
#else
#define PIBINN_ACTIVATION_PIECEWISE_TARGET
#endif

HWY_BEFORE_NAMESPACE();
namespace pibinn::activation::HWY_NAMESPACE {

template <class V>
HWY_INLINE V Apply(ActivationTag<Activation::piecewise>, V z, const ActivationNumbers<V>& numbers) {
    namespace hn = hwy::HWY_NAMESPACE;
    const V zero = hn::Zero(hn::DFromV<V>());
    const V size = hn::Abs(z);
    V sum = zero;
    for (std::size_t j = 0; j < numbers.pieces; ++j)
        sum =
            hn::MulAdd(numbers.gains[j], hn::Max(hn::Sub(size, numbers.thresholds[j]), zero), sum);
    // The shrink is odd; a sum may be negative.
    return hn::Xor(sum, hn::And(z, hn::SignBit(hn::DFromV<V>())));
}

}  // namespace pibinn::activation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
