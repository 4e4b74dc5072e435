#include "pibinn/sparse_prior.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "problem/prior_rows.hpp"

namespace pibinn {

void require_prior(const SparsePrior& prior, std::size_t n) {
    if (!(prior.density > 0.0 && prior.density <= 1.0))
        fail_usage(fmt::format("density {} is not in (0, 1]", prior.density),
                   "give the share of non-zero entries, 0.05 for example");
    for (std::uint32_t j : prior.support)
        if (j >= n)
            fail_usage(fmt::format("support entry {} is not below n = {}", j, n),
                       "entries count from 0");
    if (n == 0) fail_usage("signals of 0 entries", "give at least one signal entry");
}

void draw_row(const SparsePrior& prior, Stream& stream, std::span<float> row) {
    if (!prior.support.empty()) {
        for (std::uint32_t j : prior.support) row[j] = static_cast<float>(stream.normal());
        return;
    }
    bool any = false;
    for (float& v : row)
        if (stream.bernoulli(prior.density)) {
            v = static_cast<float>(stream.normal());
            any = true;
        }
    if (!any) {
        const std::uint32_t j = stream.below(static_cast<std::uint32_t>(row.size()));
        row[j] = static_cast<float>(stream.normal());
    }
}

}  // namespace pibinn
