#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/network.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/recipe.hpp"
#include "train/augment.hpp"

namespace pibinn {

/// The training set of an epoch, and the rows of its batches. Where ranks hold parts of the
/// problem's rows, each holds its part of the set too, and the rows of a batch go from the ranks
/// that hold them to those whose passes take them.
class TrainingRows {
public:
    /// Keeps references. All of `ranks` have one; rows from `trained` on are not trained on.
    TrainingRows(const Problem& problem, std::size_t trained, Communicator& ranks);

    /// All ranks: the set of an epoch.
    void begin_epoch(Augment augment, std::uint64_t seed, std::uint64_t epoch, ThreadPool& pool);
    /// Rows that are trained on.
    std::size_t trained() const { return trained_; }
    /// No rank but the first has all rows.
    bool in_parts() const { return in_parts_; }

    /// The energy of every row of the epoch.
    std::span<const double> energies() const { return energies_; }
    /// A signal of the epoch; where all rows are here.
    std::span<const float> signal(std::size_t row) const { return x_.row(row); }

    /// All ranks: what this one's passes take of a batch of these rows, until the next batch.
    BatchPart batch(std::span<const std::uint32_t> rows, const Network& network, ThreadPool& pool);
    /// The same of all rows in one batch, in their order.
    BatchPart whole(const Network& network, ThreadPool& pool);

    /// All ranks: the problem's rows that are not trained on, for the passes of this one. Signals
    /// are left out.
    BatchPart held_out(const Network& network, ThreadPool& pool);

    /// All ranks: the first signals of the problem, as many as there are.
    DataSet first(std::size_t count) const;

private:
    /// One of a batch's rows, folded: `part` counts the repetitions of a signal.
    struct FoldedRow {
        std::size_t row, part;
    };
    /// Calls take(row) for what the passes of a rank take of a batch.
    template <class Take>
    void for_rows(std::span<const std::uint32_t> rows, const Network& network, std::size_t rank,
                  const Take& take) const;
    /// Copies measurements and signal of a row that is here.
    void copy(FoldedRow from, float* y, float* x) const;
    /// Batches are of the problem's own rows.
    void take_own_rows();
    void fetch(std::span<const std::uint32_t> rows, const Network& network);

    const Problem& problem_;
    std::size_t trained_;
    Communicator& ranks_;
    RowShares shares_;
    bool in_parts_;
    DataSet set_;           ///< of the epoch, where it is not the problem's own
    ConstBatchView x_, y_;  ///< the epoch's rows that are here, from row begin_ on
    std::size_t begin_ = 0;
    std::size_t x_cols_ = 0, y_cols_ = 0;  ///< of a folded row
    std::vector<double> energies_;
    std::vector<FoldedRow> batch_rows_;
    Batch batch_x_, batch_y_;
    std::optional<Batch> held_out_y_;           ///< once somebody asked for it
    std::vector<std::vector<float>> out_, in_;  ///< rows of a batch that go to ranks, and come
};

}  // namespace pibinn
