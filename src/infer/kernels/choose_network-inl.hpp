// From what a block is at run time to the layers compiled for it. Included once for every target.

#if defined(PIBINN_INFER_CHOOSE_NETWORK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_CHOOSE_NETWORK_INL
#undef PIBINN_INFER_CHOOSE_NETWORK_INL
#else
#define PIBINN_INFER_CHOOSE_NETWORK_INL
#endif

#include <hwy/highway.h>

#include "infer/kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// Runs Rows<plain, activation> of the block at hand.
template <template <bool, Activation> class Rows>
void Recover(const RecoverArgs& args) {
    const bool plain = args.block.plain;
    switch (args.block.activation) {
#define PIBINN_CASE(value, name)                                \
    case Activation::value:                                     \
        return plain ? Rows<true, Activation::value>::Run(args) \
                     : Rows<false, Activation::value>::Run(args);
        PIBINN_ACTIVATIONS(PIBINN_CASE)
#undef PIBINN_CASE
    }
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
