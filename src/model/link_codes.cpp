#include "model/link_codes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "algebra/complex_links.hpp"
#include "model/parameters.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

class BitWriter {
public:
    explicit BitWriter(std::size_t bits) : bytes_(bytes_for_bits(bits)) {}
    void put(unsigned code, std::size_t width) {
        for (std::size_t b = 0; b < width; ++b, ++at_)
            if ((code >> b) & 1U) bytes_[at_ / 8] |= static_cast<std::uint8_t>(1U << (at_ % 8));
    }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
    std::vector<std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

class BitReader {
public:
    explicit BitReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    unsigned get(std::size_t width) {
        unsigned code = 0;
        for (std::size_t b = 0; b < width; ++b, ++at_)
            code |= ((bytes_[at_ / 8] >> (at_ % 8)) & 1U) << b;
        return code;
    }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

/// Calls visit(first link, end) for every run of stored links that shares one scale, in the order
/// in which scales are stored. Of complex links the left half of the columns is stored.
template <class Visit>
void for_each_stored_run(WeightKind kind, const Structure& s, Visit&& visit) {
    const std::size_t stored = s.shared_links();
    for_each_scale_run(rules_of(kind).quantiser.scale, s, [&](std::size_t begin, std::size_t end) {
        if (begin < stored) visit(begin, std::min(end, stored));
    });
}

/// The same of every layer k: visit(k, first link, end).
template <class Visit>
void for_each_run(WeightKind kind, const ParameterLayout& layout, Visit&& visit) {
    for (std::size_t k = 1; k <= layout.layers(); ++k)
        for_each_stored_run(kind, layout.structure(k),
                            [&](std::size_t begin, std::size_t end) { visit(k, begin, end); });
}

std::size_t stored_links(const ParameterLayout& layout) {
    std::size_t sum = 0;
    for (std::size_t k = 1; k <= layout.layers(); ++k) sum += layout.structure(k).shared_links();
    return sum;
}

/// The scale of a run of links: the largest of them stands on one of the levels. Which one, and how
/// the product of level and scale was rounded, shows in the others.
float scale_of(const WeightRules& rules, std::span<const float> links) {
    float largest = 0;
    for (const float w : links) largest = std::max(largest, std::abs(w));
    const auto fits = [&](float scale) {
        return std::all_of(links.begin(), links.end(),
                           [&](float w) { return rules.encode(w, scale).has_value(); });
    };
    for (auto level = rules.quantiser.levels.rbegin(); level != rules.quantiser.levels.rend();
         ++level) {
        if (*level <= 0) continue;
        const float scale = largest / *level;
        for (const float near : {scale, std::nextafter(scale, 0.0F),
                                 std::nextafter(scale, std::numeric_limits<float>::max())})
            if (fits(near)) return near;
    }
    return largest;
}

}  // namespace

LinkCodes pack_links(const Model& model) {
    const WeightKind kind = model.spec.weights;
    const WeightRules& rules = rules_of(kind);
    const std::size_t width = rules.bits_per_link;
    const bool one_scale = rules.has_global_scale();
    const ParameterLayout layout(model.spec, model.op.structure());
    LinkCodes codes;
    BitWriter writer(width * stored_links(layout));
    for_each_run(kind, layout, [&](std::size_t k, std::size_t begin, std::size_t end) {
        if (!one_scale || codes.scales.empty())
            codes.scales.push_back(scale_of(
                rules, std::span<const float>(model.weights[k - 1]).subspan(begin, end - begin)));
        for (std::size_t l = begin; l < end; ++l) {
            const auto code = rules.encode(model.weights[k - 1][l], codes.scales.back());
            ensure(code.has_value(), "a weight is not on its scale");
            writer.put(*code, width);
        }
    });
    codes.bits = writer.take();
    return codes;
}

void unpack_links(std::span<const std::uint8_t> bits, std::span<const float> scales,
                  const std::string& where, Model& model) {
    const WeightKind kind = model.spec.weights;
    const WeightRules& rules = rules_of(kind);
    const std::size_t width = rules.bits_per_link;
    const bool one_scale = rules.has_global_scale();
    const ParameterLayout layout(model.spec, model.op.structure());
    std::size_t runs = 0;
    for_each_run(kind, layout, [&](std::size_t, std::size_t, std::size_t) { ++runs; });
    const std::size_t expected_scales = one_scale ? 1 : runs;
    if (scales.size() != expected_scales)
        fail_input(
            fmt::format("{}: expected {} scales, got {}", where, expected_scales, scales.size()),
            "the file is damaged or was not written by pibinn");
    const std::size_t expected_bytes = bytes_for_bits(width * stored_links(layout));
    if (bits.size() != expected_bytes)
        fail_input(fmt::format("{}: expected {} bytes of weights, got {}", where, expected_bytes,
                               bits.size()),
                   "the file is damaged or was not written by pibinn");
    for (std::size_t k = 1; k <= layout.layers(); ++k)
        model.weights.emplace_back(layout.structure(k).links());
    BitReader reader(bits);
    std::size_t run = 0;
    for_each_run(kind, layout, [&](std::size_t k, std::size_t begin, std::size_t end) {
        const float scale = scales[one_scale ? 0 : run++];
        for (std::size_t l = begin; l < end; ++l) {
            const unsigned code = reader.get(width);
            const auto value = rules.decode(code, scale);
            if (!value)
                fail_input(fmt::format("{}: link {} of layer {} has the unused code {}", where, l,
                                       k, code),
                           "the file is damaged");
            model.weights[k - 1][l] = *value;
        }
    });
    for (std::size_t k = 1; k <= layout.layers(); ++k)
        complete_complex(layout.structure(k), std::span(model.weights[k - 1]));
}

std::size_t stored_scales(WeightKind kind, const Structure& structure) {
    const Quantiser::Scale scale = rules_of(kind).quantiser.scale;
    if (scale == Quantiser::Scale::none || scale == Quantiser::Scale::global) return 0;
    std::size_t runs = 0;
    for_each_stored_run(kind, structure, [&](std::size_t, std::size_t) { ++runs; });
    return runs;
}

std::vector<std::uint8_t> pack_bits(const std::vector<bool>& bits) {
    BitWriter writer(bits.size());
    for (const bool bit : bits) writer.put(bit ? 1U : 0U, 1);
    return writer.take();
}

std::vector<bool> unpack_bits(std::span<const std::uint8_t> bytes, std::size_t count) {
    BitReader reader(bytes);
    std::vector<bool> bits(count);
    for (std::size_t i = 0; i < count; ++i) bits[i] = reader.get(1) != 0;
    return bits;
}

}  // namespace pibinn
