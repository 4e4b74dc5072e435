#include "train/training_rows.hpp"

#include <algorithm>
#include <numeric>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kEnergyRows = 64;                       // whose energies one task sums up
constexpr std::size_t kCopiedNumbers = std::size_t{1} << 18;  // by one task

}  // namespace

TrainingRows::TrainingRows(const Problem& problem, std::size_t trained, Communicator& ranks)
    : problem_(problem),
      trained_(trained),
      ranks_(ranks),
      shares_(row_shares(problem, ranks)),
      in_parts_(ranks.any(problem.train_rows > 0)) {
    // The first rank has all rows, since it scores what was trained on them.
    const bool own = problem.train_begin == shares_.begin(ranks.rank()) &&
                     problem.train.x.rows() == shares_.size(ranks.rank());
    ensure(problem.train_rows == 0 || own, "the part of the training set that a rank looks after");
}

void TrainingRows::begin_epoch(Augment augment, std::uint64_t seed, std::uint64_t epoch,
                               ThreadPool& pool) {
    const std::size_t own = shares_.begin(ranks_.rank());
    const std::size_t own_rows = shares_.size(ranks_.rank());
    begin_ = in_parts_ ? own : 0;
    if (augment == Augment::none) {
        take_own_rows();
    } else {
        augment_epoch(augment, problem_, trained_, seed, epoch, set_, pool, ranks_, in_parts_);
        x_ = set_.x;
        y_ = set_.y;
    }
    if (augment == Augment::none && !energies_.empty()) return;  // those of the epoch before
    // By one thread, these sums were 2 of the 22 ms of a training step of 256 x 10,000 entries on a
    // CUDA device.
    std::vector<double> mine(shares_.most(), 0.0);
    pool.run_chunks(own_rows, kEnergyRows, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            double energy = 0;
            for (const float v : x_.row(own - begin_ + i)) energy += double{v} * v;
            mine[i] = energy;
        }
    });
    std::vector<double> all(mine.size() * ranks_.size());
    ranks_.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
    energies_.resize(shares_.rows());
    for (std::size_t r = 0; r < ranks_.size(); ++r)
        std::copy_n(all.data() + r * mine.size(), shares_.size(r),
                    energies_.data() + shares_.begin(r));
}

void TrainingRows::take_own_rows() {
    const std::size_t self = ranks_.rank();
    begin_ = in_parts_ ? shares_.begin(self) : 0;
    const std::size_t held = in_parts_ ? shares_.size(self) : shares_.rows();
    const std::size_t skipped = begin_ - problem_.train_begin;
    x_ = problem_.train.x.view().row_range(skipped, skipped + held);
    y_ = problem_.train.y.view().row_range(skipped, skipped + held);
}

template <class Take>
void TrainingRows::for_rows(std::span<const std::uint32_t> rows, const Network& network,
                            std::size_t rank, const Take& take) const {
    const std::size_t repeat = network.repeat();
    network.for_passes(rows.size() * repeat, rank, [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end; ++at) take({rows[at / repeat], at % repeat});
    });
}

void TrainingRows::copy(FoldedRow from, float* y, float* x) const {
    std::copy_n(y_.row(from.row - begin_).data() + from.part * y_cols_, y_cols_, y);
    std::copy_n(x_.row(from.row - begin_).data() + from.part * x_cols_, x_cols_, x);
}

BatchPart TrainingRows::batch(std::span<const std::uint32_t> rows, const Network& network,
                              ThreadPool& pool) {
    x_cols_ = x_.cols / network.repeat();
    y_cols_ = y_.cols / network.repeat();
    batch_rows_.clear();
    for_rows(rows, network, network.ranks().rank(),
             [&](FoldedRow row) { batch_rows_.push_back(row); });
    const std::size_t count = batch_rows_.size();
    if (batch_x_.rows() != count) {
        batch_x_ = Batch(count, x_cols_);
        batch_y_ = Batch(count, y_cols_);
    }
    if (in_parts_) {
        fetch(rows, network);
    } else {
        const std::size_t at_a_time = 1 + kCopiedNumbers / (1 + x_cols_ + y_cols_);
        pool.run_chunks(count, at_a_time, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                copy(batch_rows_[i], batch_y_.data() + i * y_cols_, batch_x_.data() + i * x_cols_);
        });
    }
    return {rows.size(), batch_y_, batch_x_};
}

void TrainingRows::fetch(std::span<const std::uint32_t> rows, const Network& network) {
    const std::size_t each = x_cols_ + y_cols_;
    const std::size_t size = ranks_.size(), self = ranks_.rank();
    out_.resize(size);
    in_.resize(size);
    for (std::size_t r = 0; r < size; ++r) {
        out_[r].clear();
        for_rows(rows, network, r, [&](FoldedRow row) {
            if (shares_.part_of(row.row) != self) return;
            out_[r].resize(out_[r].size() + each);
            float* const at = out_[r].data() + out_[r].size() - each;
            copy(row, at, at + y_cols_);
        });
    }
    std::vector<std::size_t> counts(size, 0);
    for_rows(rows, network, self, [&](FoldedRow row) { ++counts[shares_.part_of(row.row)]; });
    std::vector<std::span<const std::byte>> sent;
    std::vector<std::span<std::byte>> received;
    for (std::size_t r = 0; r < size; ++r) {
        in_[r].resize(counts[r] * each);
        sent.push_back(std::as_bytes(std::span(out_[r])));
        received.push_back(std::as_writable_bytes(std::span(in_[r])));
    }
    ranks_.exchange(sent, received);
    std::vector<const float*> next;
    for (const std::vector<float>& part : in_) next.push_back(part.data());
    float *x = batch_x_.data(), *y = batch_y_.data();
    for_rows(rows, network, self, [&](FoldedRow row) {
        const float*& from = next[shares_.part_of(row.row)];
        y = std::copy_n(from, y_cols_, y);
        x = std::copy_n(from + y_cols_, x_cols_, x);
        from += each;
    });
}

BatchPart TrainingRows::whole(const Network& network, ThreadPool& pool) {
    if (network.ranks().several() || in_parts_) {
        std::vector<std::uint32_t> rows(trained_);
        std::iota(rows.begin(), rows.end(), 0U);
        return batch(rows, network, pool);
    }
    // To copy them took 3 % of the epoch.
    const auto folded = [&](ConstBatchView all) {
        return ConstBatchView(all.data, trained_ * network.repeat(), all.cols / network.repeat());
    };
    return {trained_, folded(y_), folded(x_)};
}

BatchPart TrainingRows::held_out(const Network& network, ThreadPool& pool) {
    const std::size_t count = shares_.rows() - trained_;
    if (!network.ranks().several() && !in_parts_) {
        const std::size_t cols = problem_.train.y.cols();
        const ConstBatchView rows = problem_.train.y.view().row_range(trained_, shares_.rows());
        return {count, {rows.data, count * network.repeat(), cols / network.repeat()}, {}};
    }
    if (!held_out_y_) {
        take_own_rows();
        std::vector<std::uint32_t> rows(count);
        std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(trained_));
        batch(rows, network, pool);
        held_out_y_ = std::move(batch_y_);
        batch_x_ = batch_y_ = Batch();
    }
    return {count, *held_out_y_, {}};
}

DataSet TrainingRows::first(std::size_t count) const {
    const std::size_t rows = std::min(count, shares_.rows());
    const auto head = [&](const Batch& all) {
        Batch result(rows, all.cols());
        if (!in_parts_ || ranks_.first()) std::copy_n(all.data(), result.size(), result.data());
        if (in_parts_) ranks_.broadcast(std::as_writable_bytes(result.values()), 0);
        return result;
    };
    return {head(problem_.train.x), head(problem_.train.y)};
}

}  // namespace pibinn
