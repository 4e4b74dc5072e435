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
        case Activation::soft:
            return plain ? Rows<true, Activation::soft>::Run(args)
                         : Rows<false, Activation::soft>::Run(args);
        case Activation::hard:
            return plain ? Rows<true, Activation::hard>::Run(args)
                         : Rows<false, Activation::hard>::Run(args);
        case Activation::relu:
            return plain ? Rows<true, Activation::relu>::Run(args)
                         : Rows<false, Activation::relu>::Run(args);
    }
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
