#include "pibinn/sparse_prior.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {
constexpr std::size_t kDrawnRowsPerTask = 64;
}

Batch draw_signals(const SparsePrior& prior, std::size_t count, std::size_t n, std::uint64_t seed,
                   Purpose purpose, ThreadPool& pool, std::uint64_t first) {
    if (!(prior.density > 0.0 && prior.density <= 1.0))
        fail_usage(fmt::format("density {} is not in (0, 1]", prior.density),
                   "give the share of non-zero entries, 0.05 for example");
    for (std::uint32_t j : prior.support)
        if (j >= n)
            fail_usage(fmt::format("support entry {} is not below n = {}", j, n),
                       "entries count from 0");
    if (n == 0) fail_usage("signals of 0 entries", "give at least one signal entry");
    Batch x(count, n);
    pool.run_chunks(count, kDrawnRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Stream stream(seed, purpose, first + i);
            const auto row = x.row(i);
            if (!prior.support.empty()) {
                for (std::uint32_t j : prior.support) row[j] = static_cast<float>(stream.normal());
                continue;
            }
            bool any = false;
            for (float& v : row)
                if (stream.bernoulli(prior.density)) {
                    v = static_cast<float>(stream.normal());
                    any = true;
                }
            if (!any) {
                const std::uint32_t j = stream.below(static_cast<std::uint32_t>(n));
                row[j] = static_cast<float>(stream.normal());
            }
        }
    });
    return x;
}

}  // namespace pibinn
