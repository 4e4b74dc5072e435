#pragma once

#include <cstddef>
#include <cstdint>

namespace pibinn::cpu {

/// Links by output: those of output o are offsets[o] .. offsets[o + 1] - 1, and link l starts at
/// input inputs[l]. Signals stand side by side: number i of entry j is at j * stride + i, so that
/// a link is one multiplication of whole vectors and no number is gathered from its place.
struct LinkArgs {
    std::size_t outputs;
    const std::uint32_t* offsets;
    const std::uint32_t* inputs;
    std::size_t stride;  ///< signals, padded (row_kernels.hpp)
};

/// out_o = sum over the links l of output o of w_l in_inputs[l]
void link_sums(const LinkArgs& args, const float* w, const float* in, float* out);
/// dw_l += <out_o, in_inputs[l]>
void link_outer(const LinkArgs& args, const float* out, const float* in, float* dw);

}  // namespace pibinn::cpu
