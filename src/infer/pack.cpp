#include "infer/pack.hpp"

#include <algorithm>
#include <cmath>

#include "model/weights/weight_rules.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kPad = 16;  // floats of a cache line, and of the longest vector

/// A link of two planes has the value (first + second) / 2 of its scale: +1, 0 or -1.
bool sign_of(float weight, std::size_t plane) { return plane == 0 ? weight >= 0 : weight > 0; }

void set_bit(std::uint32_t* words, std::size_t bit) {
    words[bit / 32] |= std::uint32_t{1} << (bit % 32);
}

/// A group's bits in one column: the first row's minus above, and which of the others are like it.
std::uint32_t group_bits(std::span<const float> column, std::size_t plane, std::size_t group,
                         const SignLayout& layout, const PackedPart& part) {
    const bool first = sign_of(column[part.group_row(group, 0)], plane);
    std::uint32_t bits = first ? 0 : 1U << (layout.rows_per_group - 1);
    for (std::size_t b = 1; b < layout.rows_per_group; ++b) {
        const std::size_t row = part.group_row(group, b);
        if (row < part.m && sign_of(column[row], plane) == first) bits |= 1U << (b - 1);
    }
    return bits;
}

template <class Word>
void pack_full(std::span<const float> weights, const SignLayout& layout, const PackedPart& part,
               Word* signs) {
    for (std::size_t plane = 0; plane < part.planes; ++plane)
        for (std::size_t j = 0; j < part.n; ++j)
            for (std::size_t g = 0; g < part.groups; ++g) {
                const std::uint32_t bits =
                    group_bits(weights.subspan(j * part.m, part.m), plane, g, layout, part);
                Word& word =
                    signs[(plane * part.words + g / layout.groups_per_word) * part.stride + j];
                word = static_cast<Word>(word | bits << g % layout.groups_per_word *
                                                            layout.rows_per_group);
            }
}

void pack_mask(std::span<const float> weights, PackedPart& part, std::uint32_t* signs) {
    for (std::size_t plane = 0; plane < part.planes; ++plane)
        for (std::size_t l = 0; l < weights.size(); ++l)
            if (sign_of(weights[l], plane)) set_bit(signs + plane * part.plane_size(), l);
}

void pack_operator(std::span<const float> links, PackedPart& part) {
    if (!part.full()) {
        part.a.assign(links.begin(), links.end());
        return;
    }
    const std::size_t left = part.held() % kPad;
    part.main_rows = part.held() - left;
    part.tail_stride = left == 0 ? 0 : left <= 4 ? 4 : left <= 8 ? 8 : kPad;
    part.a.resize(part.n * part.main_rows);
    part.tail.resize(part.n * part.tail_stride +
                     kPad);  // a vector may be read from the last column
    std::vector<float> column(part.held());
    for (std::size_t j = 0; j < part.n; ++j) {
        std::ranges::copy(links.subspan(j * part.m, part.m), column.begin());
        for (std::size_t i = 0; i < part.paired(); i += 2) {
            const float first = column[i], second = i + 1 < part.m ? column[i + 1] : 0;
            column[i] = first - second;
            column[i + 1] = first + second;
        }
        std::copy_n(column.begin(), part.main_rows, part.a.begin() + j * part.main_rows);
        std::copy_n(column.begin() + part.main_rows, left,
                    part.tail.begin() + j * part.tail_stride);
    }
}

float largest(std::span<const float> weights) {
    float most = 0;
    for (float w : weights) most = std::max(most, std::abs(w));
    return most;
}

/// Before the first layer there is nothing to remember.
float momentum(const Model& model, std::size_t k) {
    return model.beta.empty() || k == 0 ? 0.0F : model.beta[k];
}

/// 1 + beta, by which residuals are divided. Where it is zero the misfit does not count: as little
/// of it as this is lost in rounding.
double residual_unit(const Model& model, std::size_t k) {
    constexpr double least = 0x1p-40;
    const double unit = 1.0 + momentum(model, k);
    return std::abs(unit) < least ? least : unit;
}

/// The factor of x in the input of layer k.
double entry_factor(const Model& model, std::size_t k) {
    return model.spec.delta * (1.0 + momentum(model, k));
}

/// What x is multiplied by in kernels, around one layer.
struct EntryUnits {
    double rescaled = 1;  ///< what the layer begins with multiplying all that is held by
    double in = 1;        ///< c
    double out = 1;       ///< the next c

    double step() const { return in / out; }
};

std::vector<EntryUnits> entry_units(const Model& model) {
    std::vector<EntryUnits> units(model.spec.layers);
    double c = 1;
    for (std::size_t k = 1; k < model.spec.layers; ++k) {  // in the first layer x is zero
        // Near 1, so that signals far from it keep almost all of the range of floats.
        if (c < 0x1p-12 || c > 0x1p12) units[k].rescaled = std::exp2(-std::round(std::log2(c)));
        units[k].in = c * units[k].rescaled;
        const double factor = entry_factor(model, k);
        const bool moderate = factor > 0.125 && factor < 8;
        c = units[k].out = moderate ? units[k].in / factor : units[k].in;
    }
    return units;
}

/// The numbers of layer k for weights of size 1.
PackedLayer layer_numbers(const Model& model, std::size_t k, const PackedPart& part,
                          std::span<const EntryUnits> units) {
    const auto rows = static_cast<double>(part.m);
    const double beta = momentum(model, k);
    const double unit = residual_unit(model, k);
    const double step = units[k].step();
    const double step_before = k == 0 ? 1.0 : units[k - 1].step();
    const double scale = unit / step;
    PackedLayer layer;
    layer.scale = static_cast<float>(scale);
    layer.rescaled = static_cast<float>(units[k].rescaled);
    if (!model.theta.empty()) {
        const double theta = model.theta[k];
        layer.theta = static_cast<float>(part.residual_threshold ? theta * std::abs(scale) / rows
                                                                 : theta * units[k].out) +
                      0.0F;  // never -0: thresholds are compared as integers
    }
    layer.given = static_cast<float>(units[k].in);
    layer.back = static_cast<float>(beta / (unit * step_before));
    if (!model.omega.empty() && k > 0)
        layer.omega = static_cast<float>(model.omega[k] * residual_unit(model, k - 1) /
                                         (unit * step_before * rows));
    layer.before = static_cast<float>(model.spec.delta * beta / (step * step_before));
    layer.unit = static_cast<float>(1.0 / units[k].out);
    const double added = 1.0 - entry_factor(model, k) / step;
    if (k > 0 && std::abs(added) > 1e-9) {
        layer.added = static_cast<float>(added);
        layer.kept = layer.before;
        layer.before = 1;
    }
    return layer;
}

}  // namespace

std::size_t PackedPart::padded_rows(const SignLayout& layout) const {
    const std::size_t whole = (m + layout.rows_per_word() - 1) / layout.rows_per_word();
    return (whole * layout.rows_per_word() + kPad - 1) / kPad * kPad;
}

std::size_t PackedPart::bytes() const {
    return sizeof(PackedLayer) * layers.size() + sizeof(std::uint32_t) * signs.size() +
           sizeof(float) * (channel_scales.size() + a.size() + tail.size()) +
           sizeof(std::uint32_t) * (offsets.size() + rows.size());
}

std::vector<PackedPart> pack_parts(const Model& model, const SignLayout& layout) {
    const NetworkSpec& spec = model.spec;
    const bool channel = rules_of(spec.weights).quantiser.scale == Quantiser::Scale::channel;
    std::vector<PackedPart> parts;
    const std::vector<EntryUnits> units = entry_units(model);
    for (const Block& block : model.op.structure().parts()) {
        PackedPart& part = parts.emplace_back();
        part.m = block.rows;
        part.n = block.cols;
        part.row = block.row;
        part.col = block.col;
        part.activation = spec.activation;
        part.residual_threshold = spec.update.residual_threshold;
        part.plain = !spec.update.momentum && !spec.update.onsager && spec.delta == 1;
        part.planes = rules_of(spec.weights).sign_planes();
        part.groups = block.full() ? layout.groups(part.m) : 0;
        part.words = (part.groups + layout.groups_per_word - 1) / layout.groups_per_word;
        part.word_bits = layout.word_bits;
        const std::size_t lanes = layout.word_bits == 16 ? 2 * kPad : kPad;
        part.stride = (part.n + lanes - 1) / lanes * lanes;
        part.offsets.assign(block.offsets.begin(), block.offsets.end());
        part.rows.assign(block.row_indices.begin(), block.row_indices.end());
        pack_operator(model.op.values().subspan(block.first_link, block.links()), part);
        part.signs.resize(spec.layers * part.planes * part.plane_size());
        if (channel) part.channel_scales.resize(spec.layers * part.stride);
        for (std::size_t k = 0; k < spec.layers; ++k) {
            const auto weights =
                std::span<const float>(model.weights[k]).subspan(block.first_link, block.links());
            PackedLayer& layer = part.layers.emplace_back(layer_numbers(model, k, part, units));
            if (channel)
                for (std::size_t j = 0; j < part.n; ++j) {
                    const std::size_t begin = block.column_begin(j);
                    const std::size_t end = block.column_begin(j + 1);
                    part.channel_scales[k * part.stride + j] =
                        layer.scale * largest(weights.subspan(begin, end - begin));
                }
            else
                layer.scale *= largest(model.weights[k]) / static_cast<float>(part.planes);
            std::uint32_t* signs = part.signs.data() + k * part.planes * part.plane_size();
            if (block.full() && layout.word_bits == 16)
                pack_full(weights, layout, part, reinterpret_cast<std::uint16_t*>(signs));
            else if (block.full())
                pack_full(weights, layout, part, signs);
            else
                pack_mask(weights, part, signs);
        }
    }
    return parts;
}

}  // namespace pibinn
