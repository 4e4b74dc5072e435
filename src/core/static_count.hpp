#pragma once

#include <cstddef>
#include <type_traits>

namespace pibinn {

/// Calls f with the run-time count `n` as a constant that the compiler knows, and returns what f
/// returns: f(std::integral_constant<std::size_t, n>()). Counts run from kLeast to kMost; one below
/// or above that range is taken as the nearest of the two.
///
/// Kernels use it to choose the instance whose sums stay in registers:
///
///     WithStaticCount<4>(vectors, [&](auto count) { Slab<count>(args); });
///     Function* f = WithStaticCount<4>(vectors, [](auto count) { return &Slab<count>; });
///
/// A lambda that holds vectors needs HWY_ATTR, and is then called and not inlined: choose once per
/// slab or per call, never per vector.
template <std::size_t kMost, std::size_t kLeast = 1, class F>
constexpr decltype(auto) WithStaticCount(std::size_t n, const F& f) {
    static_assert(kLeast <= kMost);
    if constexpr (kLeast == kMost) {
        (void)n;
        return f(std::integral_constant<std::size_t, kMost>());
    } else {
        if (n <= kLeast) return f(std::integral_constant<std::size_t, kLeast>());
        return WithStaticCount<kMost, kLeast + 1>(n, f);
    }
}

}  // namespace pibinn
