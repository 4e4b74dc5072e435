#include "train/augment.hpp"

#include <algorithm>

namespace pibinn {

namespace {

/// Turned around in time; a patch of side by side pixels is one of the eight that mirrors make.
void flip(std::span<const float> in, std::size_t side, std::uint32_t coins, std::span<float> out) {
    if (side == 0) {
        if (coins & 1U)
            std::reverse_copy(in.begin(), in.end(), out.begin());
        else
            std::copy(in.begin(), in.end(), out.begin());
        return;
    }
    for (std::size_t i = 0; i < side; ++i)
        for (std::size_t j = 0; j < side; ++j) {
            std::size_t row = coins & 1U ? side - 1 - i : i;
            std::size_t col = coins & 2U ? side - 1 - j : j;
            if (coins & 4U) std::swap(row, col);
            out[i * side + j] = in[row * side + col];
        }
}

/// What a change of the signals themselves, not of their coefficients, makes of a set.
template <class Change>
Batch changed_signals(const Problem& problem, ThreadPool& pool, Change&& change) {
    const Batch signals = problem.domain.to_signals(problem.train.x, pool);
    Batch changed(signals.rows(), signals.cols());
    pool.run_chunks(signals.rows(), 64, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) change(i, signals.row(i), changed.row(i));
    });
    return problem.domain.to_coefficients(changed, pool);
}

}  // namespace

void augment_epoch(Augment augment, const Problem& problem, std::uint64_t seed, std::uint64_t epoch,
                   DataSet& set, ThreadPool& pool) {
    const DataSet& from = problem.train;
    if (augment == Augment::none) {
        if (set.x.rows() != from.x.rows()) set = from;
        return;
    }
    const std::size_t rows = from.x.rows();
    const std::size_t n = from.x.cols();
    if (set.x.rows() != rows) set = from;
    const auto stream_of = [&](std::size_t i) {
        return Stream(seed, Purpose::augment, epoch * rows + i);
    };
    if (augment == Augment::shift) {
        set.x = changed_signals(
            problem, pool, [&](std::size_t i, std::span<const float> in, std::span<float> out) {
                const auto shift = stream_of(i).below(static_cast<std::uint32_t>(n));
                std::rotate_copy(in.begin(), in.begin() + shift, in.end(), out.begin());
            });
    } else if (augment == Augment::flip) {
        set.x = changed_signals(
            problem, pool, [&](std::size_t i, std::span<const float> in, std::span<float> out) {
                flip(in, problem.domain.patch, stream_of(i).word(), out);
            });
    } else if (augment != Augment::noise) {
        pool.run_chunks(rows, 64, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                Stream stream = stream_of(i);
                const std::size_t shift =
                    augment == Augment::roll ? stream.below(static_cast<std::uint32_t>(n)) : 0;
                const auto in = from.x.row(i);
                const auto out = set.x.row(i);
                std::uint32_t signs = 0;
                for (std::size_t j = 0; j < n; ++j) {
                    if (j % 32 == 0) signs = stream.word();
                    const std::size_t to = j + shift < n ? j + shift : j + shift - n;
                    out[to] = (signs >> (j % 32)) & 1U ? -in[j] : in[j];
                }
            }
        });
    }
    // Far beyond the data set's own rows: every epoch has noise and artefacts of its own.
    sense(problem, Part::train, set.x, set.y, seed, (epoch + 1) * rows, pool);
}

}  // namespace pibinn
