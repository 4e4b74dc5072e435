#pragma once

#include <cstddef>
#include <span>

#include "pibinn/structure.hpp"

namespace pibinn {

/// How latent weights become effective ones: each is its scale times the level nearest to it.
struct Quantiser {
    /// Which links share one scale: none has any, all of the network, of a layer, of an output.
    /// Scales of a layer or an output are the mean magnitude of its latent weights.
    enum class Scale { none, global, layer, channel };
    /// Ascending, in units of the scale; empty leaves weights as they are.
    std::span<const float> levels = {};
    Scale scale = Scale::none;

    bool signs_only() const { return levels.size() == 2 && levels[0] == -1 && levels[1] == 1; }
};

/// The level nearest to a number, of two as near the one farther from zero.
inline float nearest_level(std::span<const float> levels, float number) {
    std::size_t i = 0;
    while (i + 1 < levels.size()) {
        const float middle = 0.5F * (levels[i] + levels[i + 1]);
        if (middle >= 0 ? number < middle : number <= middle) break;
        ++i;
    }
    return levels[i];
}

/// Calls visit(first link, last link + 1) for every run of links of one layer that shares a scale,
/// in the order in which scales are stored.
template <class Visit>
void for_each_scale_run(Quantiser::Scale scale, const Structure& structure, Visit&& visit) {
    if (scale != Quantiser::Scale::channel) {
        visit(std::size_t{0}, structure.links());
        return;
    }
    for (const Block& block : structure.parts())
        for (std::size_t j = 0; j < block.cols; ++j)
            visit(block.first_link + block.column_begin(j),
                  block.first_link + block.column_begin(j + 1));
}

}  // namespace pibinn
