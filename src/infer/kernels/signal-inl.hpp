// One signal at a time in vectors whose lanes are its rows or its entries. Included once for every
// target.

#if defined(PIBINN_INFER_SIGNAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SIGNAL_INL
#undef PIBINN_INFER_SIGNAL_INL
#else
#define PIBINN_INFER_SIGNAL_INL
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "infer/kernels/layer_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

using D = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using VU = hn::Vec<DU>;
constexpr std::size_t kLanes = HWY_TARGET <= HWY_AVX3 ? 16 : 8;

/// One signal on its way. Whatever stands behind row m - 1 is zero in r and anything in p.
struct Signal {
    float *y, *p1, *p2, *r;  ///< rows
    float *x1, *x2, *q;      ///< columns
    std::uint32_t* support;  ///< of x1
    std::size_t count;       ///< entries of the support
    float total;             ///< the sum of |r|
};

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
