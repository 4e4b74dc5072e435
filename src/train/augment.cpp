#include "train/augment.hpp"

#include <algorithm>

namespace pibinn {

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
        // In time, not among coefficients.
        const Batch signals = problem.domain.to_signals(from.x, pool);
        Batch shifted(rows, n);
        pool.run_chunks(rows, 64, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const auto in = signals.row(i);
                const auto shift = stream_of(i).below(static_cast<std::uint32_t>(n));
                std::rotate_copy(in.begin(), in.begin() + shift, in.end(), shifted.row(i).begin());
            }
        });
        set.x = problem.domain.to_coefficients(shifted, pool);
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
