#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pibinn/activation.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

/// How a target's kernels want the signs of a column: rows in groups, groups in words.
/// Both ways of a target share it, so that one packing serves both and both add in one order.
///
/// Of a group's rows r0, r1, r2 .. the kernels hold r0 - r1 and r0 + r1 in place of the first two:
/// then a table of all signed sums begins with these two, and half of it is the other half's minus.
/// A group's highest bit says that r0 is subtracted; bit b - 1, that row b has the sign of r0.
struct SignLayout {
    std::size_t rows_per_group = 4;   ///< bits that one table lookup reads
    std::size_t groups_per_word = 8;  ///< from the lowest bits on
    std::size_t partial_sums = 4;     ///< of |r|: row i belongs to sum i mod this
    std::size_t word_bits = 32;       ///< or 16

    constexpr std::size_t rows_per_word() const { return rows_per_group * groups_per_word; }
    constexpr std::size_t groups(std::size_t rows) const {
        return (rows + rows_per_group - 1) / rows_per_group;
    }
};

/// What a layer has beside its signs.
///
/// Kernels hold x in a unit of its own in every layer, c x, and choose the next c so that x enters
/// the next layer's input without a factor: c / (delta (1 + beta)). What activations do does not
/// depend on it. They hold the residual as c (y - A v) / (1 + beta), where v = x + beta (x -
/// x_before): then c y - A (c x) enters it as it is, too. The other numbers make up for both.
struct PackedLayer {
    float scale = 1;   ///< of every sign; where each output has its own, a factor of those
    float theta = 0;   ///< divided by m where it is multiplied with the sum of |r|; never -0
    float given = 1;   ///< c, the factor of y
    float back = 0;    ///< the factor with which the misfit before is subtracted
    float omega = 0;   ///< divided by m
    float before = 0;  ///< the factor with which the x before is subtracted
    float unit = 1;    ///< of the new x: times this it is x
    /// Before the layer all that is held is multiplied by it: a power of two, and not 1 only where
    /// c has gone far from 1.
    float rescaled = 1;
    /// Where the next c cannot be chosen so, since delta (1 + beta) is far from 1 or not positive,
    /// it is c again, and the x before is made kept x_before + added x first. Elsewhere this is
    /// zero.
    float added = 0;
    float kept = 1;

    bool rescales() const { return rescaled != 1; }
    bool mixes() const { return added != 0; }
};

/// One diagonal block, or a whole mask, of a packed network: a network of its own, since blocks
/// never meet. What the kernels read, and all that they read.
struct PackedPart {
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t row = 0;  ///< first measurement of a row of y
    std::size_t col = 0;  ///< first entry of a row of x

    Activation activation = Activation::soft;
    bool residual_threshold = false;
    bool plain = true;  ///< neither momentum nor Onsager term, and delta is 1
    std::vector<PackedLayer> layers;

    /// A link of a ternary kind is half the sum of two signs, so it has two planes of them.
    std::size_t planes = 1;
    std::size_t groups = 0;  ///< of rows, in full blocks; the rows that they begin with come first
    std::size_t words = 0;   ///< of a column, in full blocks
    std::size_t word_bits = 32;
    std::size_t stride = 0;  ///< columns, padded
    /// Full blocks: [layer][plane][word][stride]. Masks: [layer][plane], one bit a link.
    AlignedBuffer<std::uint32_t> signs;
    AlignedBuffer<float> channel_scales;  ///< [layer][stride], of `one-bit-channel`; or empty

    std::vector<std::uint32_t> offsets;  ///< of a mask: links of column j; empty for full blocks
    std::vector<std::uint32_t> rows;     ///< of a mask: the row of each link

    /// The operator. Full blocks: [column][main_rows], whole cache lines, so that no load crosses
    /// one, and the rows that are left over as [column][tail_stride]; the first `paired` rows are
    /// held by twos as difference and sum. Masks: the links.
    AlignedBuffer<float> a;
    AlignedBuffer<float> tail;
    std::size_t main_rows = 0;    ///< held rows rounded down to 16
    std::size_t tail_stride = 0;  ///< the rest rounded up to 0, 4, 8 or 16

    bool full() const { return offsets.empty(); }
    /// Row b of a group.
    std::size_t group_row(std::size_t group, std::size_t b) const {
        return b < 2 ? 2 * group + b : b * groups + group;
    }
    /// Rows of r, y and A that are held by twos; none in masks.
    std::size_t paired() const { return 2 * groups; }
    /// Rows that are held in all: one more than m where m is one.
    std::size_t held() const { return std::max(m, paired()); }
    /// In numbers of 32 bits.
    std::size_t plane_size() const {
        return full() ? words * stride * word_bits / 32 : (rows.size() + 31) / 32;
    }
    const std::uint32_t* layer_signs(std::size_t k) const {
        return signs.data() + k * planes * plane_size();
    }
    const float* layer_scales(std::size_t k) const {
        return channel_scales.empty() ? nullptr : channel_scales.data() + k * stride;
    }
    /// Rows of r with the zeros behind them: of whole words and cache lines.
    std::size_t padded_rows(const SignLayout& layout) const;
    std::size_t bytes() const;
};

}  // namespace pibinn
