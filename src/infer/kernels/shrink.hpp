#pragma once

#include <cstddef>
#include <type_traits>

#include "algebra/activate.hpp"
#include "infer/packed_block.hpp"

namespace pibinn {

/// What kernels are compiled for: an activation and, of a learned shrink, whether it has few
/// pieces.
struct Shrink {
    /// So many. PackedBlock::shrinks is filled up with pieces that change nothing, so that all who
    /// have fewer have as many.
    static constexpr std::size_t kFew = 4;

    Activation activation = Activation::soft;
    bool few = false;    ///< pieces of a learned shrink
    bool sites = false;  ///< by groups and neighbours, whatever the activation

    constexpr bool learned() const { return activation == Activation::piecewise; }
    constexpr bool operator==(const Shrink&) const = default;
};

/// Calls f with the shrink of a block as a constant that the compiler knows. Who gains nothing from
/// few pieces does without instances for them.
template <bool kAsksForFew, class F>
void with_shrink(const PackedBlock& block, const F& f) {
    if (block.by_sites)
        return f(std::integral_constant<Shrink, Shrink{Activation::piecewise, false, true}>());
    return with_activation(block.activation, [&](auto activation) {
        constexpr bool kAsks = kAsksForFew && activation() == Activation::piecewise;
        if constexpr (kAsks)
            if (block.pieces <= Shrink::kFew)
                return f(std::integral_constant<Shrink, Shrink{activation(), true}>());
        return f(std::integral_constant<Shrink, Shrink{activation(), false}>());
    });
}

}  // namespace pibinn
