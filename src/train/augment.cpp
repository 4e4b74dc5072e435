#include "train/augment.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "pibinn/error.hpp"

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

/// The rows of all ranks, everywhere.
void gather_rows(const RowShares& shares, Communicator& ranks, Batch& set) {
    const std::size_t most = shares.most() * set.cols();
    std::vector<float> mine(most), all(most * ranks.size());
    const auto place = [&](std::size_t r) { return set.data() + shares.begin(r) * set.cols(); };
    std::copy_n(place(ranks.rank()), shares.size(ranks.rank()) * set.cols(), mine.begin());
    ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
    for (std::size_t r = 0; r < ranks.size(); ++r)
        if (r != ranks.rank())
            std::copy_n(all.data() + r * most, shares.size(r) * set.cols(), place(r));
}

}  // namespace

RowShares row_shares(const Problem& problem, const Communicator& ranks) {
    return {problem.all_train_rows(), problem.op.structure().repeat(), ranks.size()};
}

bool augments_rows(Augment augment) {
    return augment != Augment::shift && augment != Augment::flip && augment != Augment::mix;
}

void augment_epoch(Augment augment, const Problem& problem, std::size_t trained, std::uint64_t seed,
                   std::uint64_t epoch, DataSet& set, ThreadPool& pool, Communicator& ranks,
                   bool part) {
    const DataSet& from = problem.train;
    const std::size_t rows = problem.all_train_rows();
    const std::size_t n = from.x.cols();
    const RowShares shares = row_shares(problem, ranks);
    const std::size_t begin_own = shares.begin(ranks.rank());
    const std::size_t own_rows = shares.size(ranks.rank());
    // Row i of the set is row first + i of all, and row skipped + i of those that are here.
    const std::size_t first = part ? begin_own : 0;
    const std::size_t held = part ? own_rows : rows;
    const std::size_t skipped = first - problem.train_begin;
    if (set.x.rows() != held || set.x.cols() != n) {
        const auto copy = [&](const Batch& batch) {
            Batch result(held, batch.cols());
            std::copy_n(batch.data() + skipped * batch.cols(), result.size(), result.data());
            return result;
        };
        set = {copy(from.x), copy(from.y)};
    }
    if (augment == Augment::none) return;
    const auto stream_of = [&](std::size_t i) {
        return Stream(seed, Purpose::augment, epoch * rows + i);
    };
    if (augment == Augment::negate) {
        for (std::size_t i = 0; i < held; ++i) {
            const float sign = stream_of(first + i).bernoulli(0.5) ? 1.0F : -1.0F;
            for (std::size_t j = 0; j < n; ++j) set.x(i, j) = sign * from.x(skipped + i, j);
            for (std::size_t j = 0; j < from.y.cols(); ++j)
                set.y(i, j) = sign * from.y(skipped + i, j);
        }
        return;
    }
    ensure(!part || augments_rows(augment), "an augment of rows by themselves");
    const auto own = [&](Batch& batch) {
        return BatchView(batch).row_range(begin_own - first, begin_own - first + own_rows);
    };
    if (augment == Augment::fresh) {
        Batch drawn = draw_signals(*problem.prior, own_rows, n, seed, Purpose::augment, pool,
                                   epoch * rows + begin_own);
        if (own_rows == held)
            set.x = std::move(drawn);
        else
            std::copy_n(drawn.data(), drawn.size(), own(set.x).data);
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
        pool.run_chunks(held, 64, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                Stream stream = stream_of(first + i);
                const std::size_t shift =
                    augment == Augment::roll ? stream.below(static_cast<std::uint32_t>(n)) : 0;
                const auto in = from.x.row(skipped + i);
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
    sense(problem, Split::train, own(set.x), own(set.y), seed, (epoch + 1) * rows + begin_own,
          pool);
    if (part || !ranks.several()) return;
    if (augment == Augment::fresh) gather_rows(shares, ranks, set.x);
    gather_rows(shares, ranks, set.y);
}

}  // namespace pibinn
