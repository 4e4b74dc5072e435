#pragma once

#include <cstddef>
#include <type_traits>

#include "algebra/activate.hpp"
#include "core/static_count.hpp"
#include "infer/packed_block.hpp"

namespace pibinn {

/// What kernels are compiled for: an activation and, of a learned shrink, how many pieces it has.
struct Shrink {
    /// With more pieces than this their number is known at run time alone.
    static constexpr std::size_t kMostStatic = 4;

    Activation activation = Activation::soft;
    std::size_t pieces = 0;  ///< 1 .. kMostStatic, or one more for any number; 0 if not learned

    constexpr bool learned() const { return activation == Activation::piecewise; }
    constexpr bool operator==(const Shrink&) const = default;
};

/// Calls f with the shrink of a block as a constant that the compiler knows.
template <class F>
void with_shrink(const PackedBlock& block, const F& f) {
    with_activation(block.activation, [&](auto activation) {
        if constexpr (activation() == Activation::piecewise)
            WithStaticCount<Shrink::kMostStatic + 1>(block.pieces, [&](auto pieces) {
                f(std::integral_constant<Shrink, Shrink{activation(), pieces()}>());
            });
        else
            f(std::integral_constant<Shrink, Shrink{activation(), 0}>());
    });
}

}  // namespace pibinn
