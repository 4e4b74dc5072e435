// From what a block is at run time to the layers compiled for it. Included once for every target.

#if defined(PIBINN_INFER_CHOOSE_NETWORK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_CHOOSE_NETWORK_INL
#undef PIBINN_INFER_CHOOSE_NETWORK_INL
#else
#define PIBINN_INFER_CHOOSE_NETWORK_INL
#endif

#include <hwy/highway.h>

#include "infer/kernels/kernels.hpp"
#include "infer/kernels/shrink.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// Runs Rows<plain, shrink> of the block at hand.
template <bool kAsksForFew, template <bool, Shrink> class Rows>
void Recover(const RecoverArgs& args) {
    with_shrink<kAsksForFew>(args.block, [&args](auto shrink) {
        constexpr Shrink kShrink = decltype(shrink)::value;
        return args.block.plain ? Rows<true, kShrink>::Run(args) : Rows<false, kShrink>::Run(args);
    });
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
