#pragma once

#include <cstddef>

#include "pibinn/structure.hpp"

namespace pibinn {

/// How latent weights become effective ones.
struct Quantiser {
    enum class Levels { real, sign, ternary };
    /// Which links share one scale: none has any, all of the network, of a layer, of an output.
    enum class Scale { none, global, layer, channel };
    Levels levels = Levels::real;
    Scale scale = Scale::none;
};

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
