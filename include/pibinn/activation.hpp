// room: algebra
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace pibinn {

/// What a layer does to z_k: enumerator and name of every activation. What an activation is, is
/// told in src/algebra/activations, one file each.
///     soft  sign(z) max(|z| - theta, 0)
///     hard  z where |z| >= theta, otherwise 0
///     relu  z where z >= 0, otherwise 0: the paper's literal "HT"; has no threshold
///     piecewise  sign(z) sum_j a_j max(|z| - theta_j, 0): a learned odd piecewise-linear shrink
///     wiener  z E / (E + theta^2): a gain by the energy E that an entry is expected to have
#define PIBINN_ACTIVATIONS(X) \
    X(soft, "soft")           \
    X(hard, "hard")           \
    X(relu, "relu")           \
    X(piecewise, "piecewise") \
    X(wiener, "wiener")

#define PIBINN_ENUMERATOR(value, name) value,
enum class Activation { PIBINN_ACTIVATIONS(PIBINN_ENUMERATOR) };
#undef PIBINN_ENUMERATOR

/// The most thresholds that an activation may have per layer.
inline constexpr std::size_t kMostPieces = 16;

std::string_view to_string(Activation activation);
Activation parse_activation(std::string_view name);
/// Every activation, in the order of the list above.
std::span<const Activation> activations();

}  // namespace pibinn
