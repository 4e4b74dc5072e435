#include "model/network_sites.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

Grouping grouping_of(Groups groups, const Structure& structure) {
    const std::size_t halves = structure.is_complex() ? 2 : 1;
    switch (groups) {
        case Groups::none:
            break;
        case Groups::complex:
            if (structure.is_complex()) return {.rows = 1, .halves = 2};
            if (structure.repeat() % 2 != 0)
                fail_usage(
                    fmt::format("complex groups need an operator that is complex or repeated for "
                                "real and imaginary parts; this one is repeated {} time(s)",
                                structure.repeat()),
                    "use groups \"none\" for real signals");
            return {.rows = 2, .halves = 1};
        case Groups::rows:
            return {.rows = structure.repeat(), .halves = halves};
    }
    return {};
}

Sites sites_of(const NetworkSpec& spec, const Structure& structure) {
    if (spec.architecture == Architecture::fcn) return {};
    const Sites sites{grouping_of(spec.groups, structure),
                      {.rings = spec.neighbours,
                       .grid = spec.grid,
                       .cyclic = spec.activation != Activation::wiener}};
    if (spec.neighbours == 0) return sites;
    for (const Block& block : structure.parts()) {
        const std::size_t count = block.cols / sites.grouping.halves;
        if (spec.grid > 0 && spec.grid * spec.grid != count)
            fail_usage(fmt::format("neighbours on a grid of {0} x {0}, but a block has {1} sites",
                                   spec.grid, count),
                       "set NetworkSpec::grid to the side of the patches, or to 0");
        if (spec.grid == 0 && count <= 2 * spec.neighbours)
            fail_usage(fmt::format("{} neighbours on either side, but a block has {} sites",
                                   spec.neighbours, count),
                       "set NetworkSpec::neighbours to a smaller number");
    }
    return sites;
}

}  // namespace pibinn
