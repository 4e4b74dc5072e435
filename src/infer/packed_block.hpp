#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algebra/sites.hpp"
#include "pibinn/activation.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

/// How a target's kernels want the signs of a column: rows in groups, groups in words of 32 bits.
/// Both kernels of a target share it, so that one packing serves both and both add in one order.
/// docs/kernels.md works one group out in numbers.
///
/// Of a group's rows r0, r1, r2 .. the kernels store the butterfly r0 - r1, r0 + r1 in place of the
/// first two: then a table of all signed sums begins with these two, and half of it is the other
/// half's minus. A group's highest bit says that r0 is subtracted; bit b - 1, that row b has the
/// sign of r0.
struct SignLayout {
    std::size_t rows_per_group = 4;   ///< bits that one table lookup reads
    std::size_t groups_per_word = 8;  ///< from the lowest bits on
    std::size_t partial_sums = 4;     ///< of |r|: row i belongs to sum i mod this
    /// From how many rows on columns of A that are of signs are held as such, and no floats of
    /// them.
    std::size_t sign_column_rows = ~std::size_t{0};

    constexpr std::size_t rows_per_word() const { return rows_per_group * groups_per_word; }
    constexpr std::size_t groups(std::size_t rows) const {
        return (rows + rows_per_group - 1) / rows_per_group;
    }
};

/// The scalars of a layer.
///
/// Kernels hold x in a unit of its own in every layer, as c x. The next c is chosen so that x
/// enters the next layer's input without a factor: c / (delta (1 + beta)). Activations do not
/// depend on the unit. The residual is held as c (y - A v) / (1 + beta), where v = x + beta (x -
/// x_prev): then c y - A (c x) enters it without a factor, too. The scalars below make up for both
/// units; docs/kernels.md derives them.
struct PackedLayer {
    float scale = 1;  ///< of every sign; a factor of an output's own scale, if any
    /// Over m where it multiplies the sum of |r|; never -0. Of a learned shrink, which has its
    /// thresholds in PackedBlock::shrinks, the factor that all of them share.
    float theta = 0;
    float y_factor = 1;              ///< c
    float prev_residual_factor = 0;  ///< the misfit before is subtracted times this
    float omega = 0;                 ///< over m
    float prev_x_factor = 0;         ///< the x before is subtracted times this
    float x_unit = 1;                ///< of the new x: what is held times this is x
    /// All that is held is multiplied by it before the layer: a power of two, and not 1 only where
    /// c has gone far from 1.
    float rescale = 1;
    /// c cannot follow where delta (1 + beta) is far from 1 or not positive. There c stays, and the
    /// x before is replaced by mix_prev x_prev + mix_x x first. In all other layers mix_x is zero.
    float mix_x = 0;
    float mix_prev = 1;

    bool rescales() const { return rescale != 1; }
    bool mixes() const { return mix_x != 0; }
};

/// One diagonal block, or a whole mask, of a packed network: a network of its own, since blocks
/// share neither rows nor columns. Kernels read nothing else.
struct PackedBlock {
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t row = 0;  ///< first measurement of a row of y
    std::size_t col = 0;  ///< first entry of a row of x

    Activation activation = Activation::soft;
    bool residual_threshold = false;
    bool plain = true;       ///< neither momentum nor Onsager term, and delta is 1
    std::size_t pieces = 0;  ///< of a learned shrink; 0 for other activations
    std::size_t polish = 0;  ///< conjugate-gradient steps after the last layer
    float cut = 0;  ///< of polish: the share of the largest entry that the support is beyond
    std::vector<PackedLayer> layers;

    /// Residuals are taken less their mean. The columns of a full block are stored less theirs, so
    /// that y alone is left to centre; of a mask y and A x are.
    bool centre = false;
    /// The activation looks at groups and neighbours. Soft and hard thresholds then are learned
    /// shrinks of one piece.
    bool by_sites = false;
    Sites sites;
    std::vector<float> local;    ///< [layer]: factors of the rings, and what `wiener` adds
    AlignedBuffer<float> prior;  ///< of `wiener`: each site's variance, with zeros behind

    bool tied = false;  ///< the weights are the operator: one set of signs for all layers
    /// A link of a ternary kind is half the sum of two signs, so it has two planes of them.
    std::size_t planes = 1;
    std::size_t groups = 0;  ///< of rows, in full blocks; the rows that they begin with come first
    std::size_t words = 0;   ///< of a column, in full blocks
    std::size_t stride = 0;  ///< columns rounded up to whole vectors

    /// Full blocks: [layer][plane][word][stride]. Masks: [layer][plane], one bit per link. Tied
    /// networks have one layer of them.
    AlignedBuffer<std::uint32_t> signs;
    AlignedBuffer<float> channel_scales;  ///< [layer][stride] where columns differ; or empty
    /// The pieces of a learned shrink: [layer], then thresholds, offsets and slopes, piece_stride()
    /// each. Beyond threshold j, and up to the next, x is sign(z) (slope_j |z| + offset_j).
    /// Thresholds ascend.
    AlignedBuffer<float> shrinks;

    std::vector<std::uint32_t> offsets;  ///< of a mask: links of column j; empty for full blocks
    std::vector<std::uint32_t> rows;     ///< of a mask: the row of each link
    /// Of a mask, a row at a time: where the links of row i begin, and the end; the column of each
    /// link and its entry of the operator.
    std::vector<std::uint32_t> row_offsets;
    std::vector<std::uint32_t> row_columns;
    AlignedBuffer<float> row_a;
    /// Of a mask, instead of its signs: what each link of B^T r reads, [layer][plane][step][16]. 16
    /// columns have as many steps as the longest of them has links. A number below minus_row is a
    /// row of r; from there on it is a row of -r; 2 minus_row, where a column has no more links, is
    /// a row of zeros.
    AlignedBuffer<std::uint16_t> link_rows;
    std::vector<std::uint32_t> first_steps;  ///< of 16 columns, and the end
    std::size_t minus_row = 0;

    /// The operator. Full blocks: [column][main_rows], whole cache lines, so that no load crosses
    /// one, and the rows behind them as [column][tail_stride]; the first butterfly_rows() as
    /// difference and sum. Masks: the links.
    AlignedBuffer<float> a;
    AlignedBuffer<float> tail;
    std::size_t main_rows = 0;    ///< stored rows rounded down to 16
    std::size_t tail_stride = 0;  ///< the rest rounded up to 0, 4, 8 or 16

    /// An operator of signs, instead of its floats: [column][row_blocks()], a bit per row. Row 16 s
    /// + l of a block of 64 is bit 4 l + s, so that a byte per row, read as lanes of 32 bits, has
    /// its rows in order.
    AlignedBuffer<std::uint64_t> row_signs;
    float sign_size = 0;  ///< the magnitude of its entries

    bool full() const { return offsets.empty(); }
    std::size_t site_count() const { return n / sites.grouping.halves; }
    const float* layer_local(std::size_t k) const {
        return local.data() + k * (local.size() / layers.size());
    }
    bool has_sign_columns() const { return !row_signs.empty(); }
    std::size_t row_blocks() const { return (m + 63) / 64; }
    /// Row b of a group.
    std::size_t group_row(std::size_t group, std::size_t b) const {
        return b < 2 ? 2 * group + b : b * groups + group;
    }
    /// The first rows of r, y and A, stored two by two as difference and sum; none in masks.
    std::size_t butterfly_rows() const { return 2 * groups; }
    /// Rows that are stored: m, or one more where m is one.
    std::size_t stored_rows() const { return std::max(m, butterfly_rows()); }
    /// In words of 32 bits.
    std::size_t plane_size() const { return full() ? words * stride : (rows.size() + 31) / 32; }
    bool has_link_rows() const { return !link_rows.empty(); }
    std::size_t link_plane_size() const { return std::size_t{16} * first_steps.back(); }
    const std::uint16_t* layer_link_rows(std::size_t k) const {
        return link_rows.data() + (tied ? 0 : k) * planes * link_plane_size();
    }
    const std::uint32_t* layer_signs(std::size_t k) const {
        return signs.data() + (tied ? 0 : k) * planes * plane_size();
    }
    /// Pieces rounded up to the shortest vector.
    std::size_t piece_stride() const { return (pieces + 3) / 4 * 4; }
    const float* layer_shrink(std::size_t k) const {
        return shrinks.data() + k * 3 * piece_stride();
    }
    const float* layer_scales(std::size_t k) const {
        return channel_scales.empty() ? nullptr : channel_scales.data() + k * stride;
    }
    /// Rows of r with the zeros behind them: whole words and whole cache lines.
    std::size_t padded_rows(const SignLayout& layout) const;
    std::size_t bytes() const;
};

}  // namespace pibinn
