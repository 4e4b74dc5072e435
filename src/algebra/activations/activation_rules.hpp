#pragma once

#include <cstddef>

#include "pibinn/activation.hpp"

namespace pibinn {

/// How a threshold gets a gradient.
enum class ThresholdLearning {
    none,    ///< it has none
    always,  ///< x moves with theta wherever it is not zero
    by_ramp  ///< flat in theta almost everywhere: only while backward takes the jump for a ramp
};

/// Which bound of the theory on the contraction of a layer holds for it.
enum class ContractionBound { none, soft, hard };

/// Plain facts of an activation.
struct ActivationRules {
    enum class Thresholds { none, one, pieces } thresholds = Thresholds::none;
    ThresholdLearning learning = ThresholdLearning::none;
    ContractionBound bound = ContractionBound::none;
    /// H(c z, c tau) = c H(z, tau) for c > 0. Packed networks hold x in units of their own, so only
    /// such activations can be packed.
    bool homogeneous = false;
    /// A threshold that is not finite would set everything to zero as if nothing had happened.
    bool hides_bad_threshold = false;

    /// What an entry becomes depends on others of its row, whatever the grouping.
    bool by_sites = false;

    constexpr bool has_threshold() const { return thresholds != Thresholds::none; }
};

/// What a formula is given beside z. T is a number, or a vector of a kernel. An activation that
/// owns more numbers per layer gets them here, and the others need not know.
template <class T>
struct ActivationNumbers {
    T tau;
    T softening;  ///< of training: the share of tau that a hard threshold takes off what passes
    std::size_t pieces = 0;         ///< of `piecewise`, as what follows
    const T* thresholds = nullptr;  ///< in the unit of z
    const T* gains = nullptr;
};

/// Defined for each activation in its own file: `rules` and the formula of one number,
/// `apply(z, numbers)`. The same file has the formula of vectors, `Apply(tag, z, numbers)`.
template <Activation kActivation>
struct ActivationOf;

template <Activation kActivation>
struct ActivationTag {};

}  // namespace pibinn
