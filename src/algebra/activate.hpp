#pragma once

#include <type_traits>

// Made by CMake: includes every file of src/algebra/activations.
#include <generated/all_activations-inl.hpp>

#include "algebra/activations/activation_rules.hpp"

namespace pibinn {

/// Calls f with the activation as a constant that the compiler knows:
/// f(std::integral_constant<Activation, activation>()).
template <class F>
constexpr decltype(auto) with_activation(Activation activation, const F& f) {
    switch (activation) {
#define PIBINN_CASE(value, name) \
    case Activation::value:      \
        return f(std::integral_constant<Activation, Activation::value>());
        PIBINN_ACTIVATIONS(PIBINN_CASE)
#undef PIBINN_CASE
    }
    __builtin_unreachable();
}

constexpr const ActivationRules& rules_of(Activation activation) {
    return with_activation(activation, [](auto constant) -> const ActivationRules& {
        return ActivationOf<constant()>::rules;
    });
}

template <class T>
T activate(Activation activation, T z, const ActivationNumbers<T>& numbers) {
    return with_activation(
        activation, [&](auto constant) { return ActivationOf<constant()>::apply(z, numbers); });
}

/// H_theta(z) of an activation with at most one threshold.
template <class T>
T activate(Activation activation, T z, T theta) {
    return activate(activation, z, ActivationNumbers<T>{theta, T{0}});
}

/// What the Onsager term counts of one entry, z before the activation and x behind it: the slope of
/// a learned shrink, otherwise whether x is not zero.
template <class T>
T onsager_slope(Activation activation, T z, T x, const ActivationNumbers<T>& numbers) {
    if (activation == Activation::piecewise)
        return ActivationOf<Activation::piecewise>::slope(z, numbers);
    return x != T{0} ? T{1} : T{0};
}

}  // namespace pibinn
