#include "algebra/cpu/mask_kernels.hpp"

#include "algebra/cpu/row_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "algebra/cpu/mask_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pibinn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kPad>;
using V = hn::Vec<D>;

template <std::size_t kVectors>
struct SumsSlab {
    static void run(const LinkArgs& a, const float* HWY_RESTRICT w, const float* HWY_RESTRICT in,
                    float* HWY_RESTRICT out, std::size_t at) {
        const D d;
        const std::size_t lanes = hn::Lanes(d);
        for (std::size_t o = 0; o < a.outputs; ++o) {
            V sum[kVectors];
            for (std::size_t b = 0; b < kVectors; ++b) sum[b] = hn::Zero(d);
            for (std::size_t l = a.offsets[o]; l < a.offsets[o + 1]; ++l) {
                const V factor = hn::Set(d, w[l]);
                const float* from = in + a.inputs[l] * a.stride + at;
                for (std::size_t b = 0; b < kVectors; ++b)
                    sum[b] = hn::MulAdd(factor, hn::Load(d, from + b * lanes), sum[b]);
            }
            for (std::size_t b = 0; b < kVectors; ++b)
                hn::Store(sum[b], d, out + o * a.stride + at + b * lanes);
        }
    }
};

template <std::size_t kVectors>
struct OuterSlab {
    static void run(const LinkArgs& a, const float* HWY_RESTRICT out, const float* HWY_RESTRICT in,
                    float* HWY_RESTRICT dw, std::size_t at) {
        const D d;
        const std::size_t lanes = hn::Lanes(d);
        for (std::size_t o = 0; o < a.outputs; ++o) {
            V r[kVectors];
            for (std::size_t b = 0; b < kVectors; ++b)
                r[b] = hn::Load(d, out + o * a.stride + at + b * lanes);
            for (std::size_t l = a.offsets[o]; l < a.offsets[o + 1]; ++l) {
                const float* from = in + a.inputs[l] * a.stride + at;
                V sum = hn::Mul(r[0], hn::Load(d, from));
                for (std::size_t b = 1; b < kVectors; ++b)
                    sum = hn::MulAdd(r[b], hn::Load(d, from + b * lanes), sum);
                dw[l] += hn::GetLane(hn::SumOfLanes(d, sum));
            }
        }
    }
};

/// Signals by slabs of as many vectors as stay in registers.
template <template <std::size_t> class Slab, class... Args>
void BySlabs(const LinkArgs& a, Args... args) {
    const std::size_t lanes = hn::Lanes(D());
    for (std::size_t at = 0; at < a.stride;) {
        const std::size_t left = (a.stride - at) / lanes;
        if (left >= 8) {
            Slab<8>::run(a, args..., at);
            at += 8 * lanes;
        } else if (left >= 4) {
            Slab<4>::run(a, args..., at);
            at += 4 * lanes;
        } else if (left >= 2) {
            Slab<2>::run(a, args..., at);
            at += 2 * lanes;
        } else {
            Slab<1>::run(a, args..., at);
            at += lanes;
        }
    }
}

void LinkSums(const LinkArgs& a, const float* w, const float* in, float* out) {
    BySlabs<SumsSlab>(a, w, in, out);
}

void LinkOuter(const LinkArgs& a, const float* out, const float* in, float* dw) {
    BySlabs<OuterSlab>(a, out, in, dw);
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn::cpu {

HWY_EXPORT(LinkSums);
HWY_EXPORT(LinkOuter);

void link_sums(const LinkArgs& args, const float* w, const float* in, float* out) {
    HWY_DYNAMIC_DISPATCH(LinkSums)(args, w, in, out);
}

void link_outer(const LinkArgs& args, const float* out, const float* in, float* dw) {
    HWY_DYNAMIC_DISPATCH(LinkOuter)(args, out, in, dw);
}

}  // namespace pibinn::cpu
#endif
