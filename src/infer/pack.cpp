#include "infer/pack.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/centre.hpp"
#include "algebra/quantiser.hpp"
#include "model/network_sites.hpp"
#include "model/weights/weight_rules.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kPad = 16;  // floats of a cache line, and of the longest vector

/// A link of two planes has the value (first + second) / 2 of its scale: +1, 0 or -1.
bool sign_of(float weight, std::size_t plane) { return plane == 0 ? weight >= 0 : weight > 0; }

void set_bit(std::uint32_t* words, std::size_t bit) {
    words[bit / 32] |= std::uint32_t{1} << (bit % 32);
}

/// A group's bits in one column: the highest bit is set where the first row is subtracted, bit b -
/// 1 where row b has the sign of the first.
std::uint32_t group_bits(std::span<const float> column, std::size_t plane, std::size_t group,
                         const SignLayout& layout, const PackedBlock& block) {
    const bool first = sign_of(column[block.group_row(group, 0)], plane);
    std::uint32_t bits = first ? 0 : 1U << (layout.rows_per_group - 1);
    for (std::size_t b = 1; b < layout.rows_per_group; ++b) {
        const std::size_t row = block.group_row(group, b);
        if (row < block.m && sign_of(column[row], plane) == first) bits |= 1U << (b - 1);
    }
    return bits;
}

void pack_full(std::span<const float> weights, const SignLayout& layout, const PackedBlock& block,
               std::uint32_t* signs) {
    for (std::size_t plane = 0; plane < block.planes; ++plane)
        for (std::size_t j = 0; j < block.n; ++j)
            for (std::size_t g = 0; g < block.groups; ++g) {
                const std::uint32_t bits =
                    group_bits(weights.subspan(j * block.m, block.m), plane, g, layout, block);
                const std::size_t word = plane * block.words + g / layout.groups_per_word;
                signs[word * block.stride + j] |=
                    bits << g % layout.groups_per_word * layout.rows_per_group;
            }
}

void pack_mask(std::span<const float> weights, const PackedBlock& block, std::uint32_t* signs) {
    for (std::size_t plane = 0; plane < block.planes; ++plane)
        for (std::size_t l = 0; l < weights.size(); ++l)
            if (sign_of(weights[l], plane)) set_bit(signs + plane * block.plane_size(), l);
}

/// Steps of every 16 columns of a mask.
void pack_steps(const SignLayout& layout, PackedBlock& block) {
    block.minus_row = block.padded_rows(layout);
    if (2 * block.minus_row > 0xFFFF) return;  // rows are numbered in 16 bits: signs it is
    block.first_steps.push_back(0);
    for (std::size_t first = 0; first < block.n; first += kPad) {
        std::uint32_t most = 0;
        for (std::size_t j = first; j < std::min(first + kPad, block.n); ++j)
            most = std::max(most, block.offsets[j + 1] - block.offsets[j]);
        block.first_steps.push_back(block.first_steps.back() + most);
    }
}

/// What each link of a mask reads.
void pack_link_rows(std::span<const float> weights, const PackedBlock& block, std::uint16_t* to) {
    for (std::size_t plane = 0; plane < block.planes; ++plane, to += block.link_plane_size()) {
        std::fill_n(to, block.link_plane_size(), static_cast<std::uint16_t>(2 * block.minus_row));
        for (std::size_t j = 0; j < block.n; ++j) {
            std::uint16_t* at = to + std::size_t{kPad} * block.first_steps[j / kPad] + j % kPad;
            for (std::size_t l = block.offsets[j]; l < block.offsets[j + 1]; ++l, at += kPad)
                *at = static_cast<std::uint16_t>(
                    block.rows[l] + (sign_of(weights[l], plane) ? 0 : block.minus_row));
        }
    }
}

/// The magnitude of a run of links.
float largest(std::span<const float> links) {
    float most = 0;
    for (const float link : links) most = std::max(most, std::abs(link));
    return most;
}

/// The signs of every column, a bit per row.
void pack_sign_columns(std::span<const float> links, PackedBlock& block) {
    block.sign_size = largest(links);
    block.row_signs.resize(block.n * block.row_blocks());
    for (std::size_t j = 0; j < block.n; ++j)
        for (std::size_t i = 0; i < block.m; ++i) {
            const std::size_t bit = 4 * (i % 16) + i % 64 / 16;
            if (links[j * block.m + i] > 0)
                block.row_signs[j * block.row_blocks() + i / 64] |= std::uint64_t{1} << bit;
        }
}

/// The links of a mask in the order of their rows, those of a row in the order of their columns.
void pack_rows(std::span<const float> links, PackedBlock& block) {
    block.row_offsets.assign(block.m + 1, 0);
    for (const std::uint32_t row : block.rows) ++block.row_offsets[row + 1];
    std::partial_sum(block.row_offsets.begin(), block.row_offsets.end(), block.row_offsets.begin());
    block.row_columns.resize(links.size());
    block.row_a.resize(links.size());
    std::vector<std::uint32_t> next(block.row_offsets.begin(), block.row_offsets.end() - 1);
    for (std::uint32_t j = 0; j < block.n; ++j)
        for (std::size_t l = block.offsets[j]; l < block.offsets[j + 1]; ++l) {
            const std::uint32_t at = next[block.rows[l]]++;
            block.row_columns[at] = j;
            block.row_a[at] = links[l];
        }
}

void pack_operator(std::span<const float> links, const SignLayout& layout, PackedBlock& block) {
    if (!block.full()) {
        block.a.assign(links.begin(), links.end());
        pack_rows(links, block);
        return;
    }
    const std::size_t left = block.stored_rows() % kPad;
    block.main_rows = block.stored_rows() - left;
    block.tail_stride = left == 0 ? 0 : left <= 4 ? 4 : left <= 8 ? 8 : kPad;
    const auto same_size = [&](float link) { return std::abs(link) == std::abs(links[0]); };
    if (block.m >= layout.sign_column_rows && std::ranges::all_of(links, same_size)) {
        pack_sign_columns(links, block);
        return;
    }
    block.a.resize(block.n * block.main_rows);
    block.tail.resize(block.n * block.tail_stride +
                      kPad);  // a vector may be read from the last column
    std::vector<float> column(block.stored_rows());
    for (std::size_t j = 0; j < block.n; ++j) {
        std::ranges::copy(links.subspan(j * block.m, block.m), column.begin());
        for (std::size_t i = 0; i < block.butterfly_rows(); i += 2) {
            const float first = column[i], second = i + 1 < block.m ? column[i + 1] : 0;
            column[i] = first - second;
            column[i + 1] = first + second;
        }
        std::copy_n(column.begin(), block.main_rows, block.a.begin() + j * block.main_rows);
        std::copy_n(column.begin() + block.main_rows, left,
                    block.tail.begin() + j * block.tail_stride);
    }
}

/// The links of layer k in one block as its product takes them.
struct ProductLinks {
    std::vector<float> levelled;  ///< empty where they are as they are
    std::span<const float> all;

    ProductLinks(const ProductLinks&) = delete;
    ProductLinks(const Model& model, const Block& block, std::size_t k)
        : all(model.layer_links(k + 1).subspan(block.first_link, block.links())) {
        // Where a tied network centres its residuals, columns of zeros and ones are ones of signs.
        if (!model.spec.tied() || !model.spec.centre || !block.full()) return;
        levelled = levelled_columns(block, all);
        all = levelled;
    }
};

/// The magnitudes of a layer's weights in one block: one for all of them, or one for every column.
std::vector<float> weight_sizes(const Model& model, const Block& block, std::size_t k,
                                std::span<const float> weights) {
    std::vector<float> sizes;
    if (!model.spec.tied() &&
        rules_of(model.spec.weights).quantiser.scale != Quantiser::Scale::channel)
        return {largest(model.layer_links(k + 1))};
    for (std::size_t j = 0; j < block.cols; ++j) {
        const std::size_t begin = block.column_begin(j);
        sizes.push_back(largest(weights.subspan(begin, block.column_begin(j + 1) - begin)));
    }
    const bool all_alike = std::ranges::all_of(sizes, [&](float s) { return s == sizes[0]; });
    if (model.spec.tied() && all_alike) sizes.resize(1);
    return sizes;
}

/// Signs of layer k, and the scale or scales that they are multiplied by.
void pack_weights(const Model& model, const Block& from, const SignLayout& layout, std::size_t k,
                  PackedBlock& block) {
    PackedLayer& layer = block.layers[k];
    const float step = model.step_of(k + 1);
    const ProductLinks links(model, from, k);
    const std::span<const float> weights = links.all;
    const std::vector<float> sizes = weight_sizes(model, from, k, weights);
    if (sizes.size() == 1) {
        layer.scale *= step * sizes[0] / static_cast<float>(block.planes);
    } else {
        // A vector may be read from the last columns.
        block.channel_scales.resize(block.layers.size() * block.stride + kPad);
        for (std::size_t j = 0; j < block.n; ++j)
            block.channel_scales[k * block.stride + j] = layer.scale * step * sizes[j];
    }
    if (block.tied && k > 0) return;
    if (block.has_link_rows()) {
        pack_link_rows(weights, block,
                       block.link_rows.data() + k * block.planes * block.link_plane_size());
        return;
    }
    std::uint32_t* signs = block.signs.data() + k * block.planes * block.plane_size();
    if (from.full())
        pack_full(weights, layout, block, signs);
    else
        pack_mask(weights, block, signs);
}

/// One block with everything but its layers.
PackedBlock pack_shape(const Model& model, const Block& from, const SignLayout& layout) {
    const NetworkSpec& spec = model.spec;
    PackedBlock block;
    block.m = from.rows;
    block.n = from.cols;
    block.row = from.row;
    block.col = from.col;
    block.activation = spec.activation;
    block.residual_threshold = spec.update.residual_threshold;
    block.plain = !spec.update.momentum && !spec.update.onsager && spec.delta == 1;
    block.polish = spec.polish;
    if (spec.polish > 0) block.cut = model.cut[0];
    block.centre = spec.centre;
    block.by_sites = !spec.entrywise();
    block.sites = sites_of(spec, model.op.structure());
    block.local = model.local;
    if (spec.has_prior()) {
        const std::size_t halves = block.sites.grouping.halves;
        block.prior.resize((from.cols / halves + kPad - 1) / kPad * kPad);
        for (std::size_t i = 0; i < from.cols / halves; ++i)
            block.prior[i] = std::exp(model.prior[from.col / halves + i]);
    }
    block.tied = spec.tied();
    block.planes = block.tied ? 1 : rules_of(spec.weights).sign_planes();
    block.groups = from.full() ? layout.groups(block.m) : 0;
    block.words = (block.groups + layout.groups_per_word - 1) / layout.groups_per_word;
    block.stride = (block.n + kPad - 1) / kPad * kPad;
    block.offsets.assign(from.offsets.begin(), from.offsets.end());
    block.rows.assign(from.row_indices.begin(), from.row_indices.end());
    const auto links = model.op.values().subspan(from.first_link, from.links());
    if (spec.centre && from.full())
        pack_operator(centred_columns(from, links), layout, block);
    else
        pack_operator(links, layout, block);
    return block;
}

}  // namespace

std::size_t PackedBlock::padded_rows(const SignLayout& layout) const {
    const std::size_t whole = (m + layout.rows_per_word() - 1) / layout.rows_per_word();
    return (whole * layout.rows_per_word() + kPad - 1) / kPad * kPad;
}

std::size_t PackedBlock::bytes() const {
    return sizeof(PackedLayer) * layers.size() + sizeof(std::uint32_t) * signs.size() +
           sizeof(float) * (local.size() + prior.size() + channel_scales.size() + shrinks.size() +
                            a.size() + tail.size() + row_a.size()) +
           sizeof(std::uint32_t) *
               (offsets.size() + rows.size() + row_offsets.size() + row_columns.size()) +
           sizeof(std::uint64_t) * row_signs.size() + sizeof(std::uint16_t) * link_rows.size() +
           sizeof(std::uint32_t) * first_steps.size();
}

std::vector<PackedBlock> pack_blocks(const Model& model, const SignLayout& layout) {
    std::vector<PackedBlock> blocks;
    for (const Block& from : model.op.structure().parts()) {
        PackedBlock& block = blocks.emplace_back(pack_shape(model, from, layout));
        block.layers = pack_layers(model, block.m);
        pack_shrinks(model, block);
        const std::size_t sets = block.tied ? 1 : block.layers.size();
        if (!block.full()) pack_steps(layout, block);
        if (!block.first_steps.empty())
            block.link_rows.resize(sets * block.planes * block.link_plane_size());
        else
            block.signs.resize(sets * block.planes * block.plane_size());
        for (std::size_t k = 0; k < block.layers.size(); ++k)
            pack_weights(model, from, layout, k, block);
    }
    return blocks;
}

bool ties_to_signs(const Model& model) {
    for (const Block& block : model.op.structure().parts()) {
        const ProductLinks product(model, block, 0);
        const std::span<const float> links = product.all;
        for (std::size_t j = 0; j < block.cols; ++j) {
            const std::size_t begin = block.column_begin(j);
            for (std::size_t l = begin; l < block.column_begin(j + 1); ++l)
                if (std::abs(links[l]) != std::abs(links[begin])) return false;
        }
    }
    return true;
}

}  // namespace pibinn
