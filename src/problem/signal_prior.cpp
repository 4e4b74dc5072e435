#include "pibinn/signal_prior.hpp"

#include "problem/prior_rows.hpp"

namespace pibinn {

namespace {
constexpr std::size_t kDrawnRowsPerTask = 64;
}

Batch draw_signals(const SignalPrior& prior, std::size_t count, std::size_t n, std::uint64_t seed,
                   Purpose purpose, ThreadPool& pool, std::uint64_t first) {
    std::visit([&](const auto& own) { require_prior(own, n); }, prior);
    Batch x(count, n);
    pool.run_chunks(count, kDrawnRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Stream stream(seed, purpose, first + i);
            std::visit([&](const auto& own) { draw_row(own, stream, x.row(i)); }, prior);
        }
    });
    return x;
}

}  // namespace pibinn
