#include "train/augment.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace pibinn {

namespace {

/// The share of signals that are mixed; the others keep what is not Gaussian about them.
constexpr double kMixed = 0.5;

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

double energy(std::span<const float> values) {
    double sum = 0;
    for (const float v : values) sum += double{v} * v;
    return sum;
}

/// Row i of a set as cos(t) x_i + sin(t) x_j, with the energy of x_i.
void mix(const Batch& x, std::size_t i, std::size_t j, double t, std::span<float> out) {
    const auto own = x.row(i);
    const auto other = x.row(j);
    const auto c = static_cast<float>(std::cos(t));
    const auto s = static_cast<float>(std::sin(t));
    for (std::size_t e = 0; e < own.size(); ++e) out[e] = c * own[e] + s * other[e];
    const double now = energy(out);
    const auto factor = now > 0 ? static_cast<float>(std::sqrt(energy(own) / now)) : 0.0F;
    for (float& v : out) v *= factor;
}

// Products are made of tasks of up to so many rows, each rounded by itself: a share that begins
// anywhere else would round otherwise.
constexpr std::size_t kRowsPerShare = 128;

/// The rows that each rank draws and measures.
struct RowShares {
    RowShares(std::size_t rows_, Communicator& ranks_) : rows(rows_), ranks(ranks_) {}

    std::size_t begin(std::size_t rank) const {
        const std::size_t shares = (rows + kRowsPerShare - 1) / kRowsPerShare;
        return std::min(rows, shares * rank / ranks.size() * kRowsPerShare);
    }
    BatchView own(Batch& set) const {
        return BatchView(set).row_range(begin(ranks.rank()), begin(ranks.rank() + 1));
    }
    /// The rows of all, everywhere.
    void exchange(Batch& set) const {
        if (!ranks.several()) return;
        std::size_t most = 0;
        for (std::size_t r = 0; r < ranks.size(); ++r)
            most = std::max(most, begin(r + 1) - begin(r));
        most *= set.cols();
        std::vector<float> mine(most), all(most * ranks.size());
        const BatchView from = own(set);
        std::copy_n(from.data, from.rows * from.cols, mine.begin());
        ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
        for (std::size_t r = 0; r < ranks.size(); ++r)
            if (r != ranks.rank())
                std::copy_n(all.data() + r * most, (begin(r + 1) - begin(r)) * set.cols(),
                            set.data() + begin(r) * set.cols());
    }

    std::size_t rows;
    Communicator& ranks;
};

}  // namespace

void augment_epoch(Augment augment, const Problem& problem, std::size_t trained, std::uint64_t seed,
                   std::uint64_t epoch, DataSet& set, ThreadPool& pool, Communicator& ranks) {
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
    if (augment == Augment::negate) {
        for (std::size_t i = 0; i < rows; ++i) {
            const float sign = stream_of(i).bernoulli(0.5) ? 1.0F : -1.0F;
            for (std::size_t j = 0; j < n; ++j) set.x(i, j) = sign * from.x(i, j);
            for (std::size_t j = 0; j < from.y.cols(); ++j) set.y(i, j) = sign * from.y(i, j);
        }
        return;
    }
    const RowShares shares(rows, ranks);
    const std::size_t begin_own = shares.begin(ranks.rank());
    if (augment == Augment::fresh) {
        const BatchView own = shares.own(set.x);
        const Batch drawn = draw_signals(*problem.prior, own.rows, n, seed, Purpose::augment, pool,
                                         epoch * rows + begin_own);
        std::copy_n(drawn.data(), drawn.size(), own.data);
    } else if (augment == Augment::shift) {
        set.x = changed_signals(
            problem, pool, [&](std::size_t i, std::span<const float> in, std::span<float> out) {
                const auto shift = stream_of(i).below(static_cast<std::uint32_t>(n));
                std::rotate_copy(in.begin(), in.begin() + shift, in.end(), out.begin());
            });
    } else if (augment == Augment::flip || augment == Augment::mix) {
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
    if (augment == Augment::mix) {
        const Batch alone = set.x;
        pool.run_chunks(trained, 64, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                Stream stream = stream_of(i);
                stream.word();  // was for the flip
                if (!stream.bernoulli(kMixed)) continue;
                const std::size_t j = stream.below(static_cast<std::uint32_t>(trained));
                mix(alone, i, j, 2 * std::numbers::pi * stream.uniform(), set.x.row(i));
            }
        });
    }
    // Far beyond the data set's own rows: every epoch has noise and artefacts of its own.
    sense(problem, Split::train, shares.own(set.x), shares.own(set.y), seed,
          (epoch + 1) * rows + begin_own, pool);
    if (augment == Augment::fresh) shares.exchange(set.x);
    shares.exchange(set.y);
}

}  // namespace pibinn
