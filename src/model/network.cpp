#include "model/network.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "model/fully_connected_net.hpp"
#include "model/rank_sum.hpp"
#include "model/unrolled_net.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

Network::Network(NetworkSpec spec, const Operator& op, Backend& backend, PassUse use)
    : spec_(spec),
      use_(use),
      layout_(std::make_shared<const ParameterLayout>(spec, op.structure())),
      backend_(backend),
      sites_(sites_of(spec, op.structure())),
      repeat_(spec.architecture == Architecture::unrolled ? op.structure().repeat() : 1),
      signal_cols_(op.cols()),
      measurement_cols_(op.rows()),
      owners_(layout_) {}

ConstBatchView Network::fold(ConstBatchView batch) const {
    ensure(repeat_ == 1 || batch.contiguous(), "a repeated network needs batches without gaps");
    if (repeat_ == 1) return batch;
    return {batch.data, batch.rows * repeat_, batch.cols / repeat_};
}

std::size_t Network::rows_per_pass() const {
    const std::size_t group = sites_.grouping.rows;
    return std::max(group, backend_.rows_per_pass() / group * group);
}

std::size_t Network::shards_for(std::size_t rows) const {
    const std::size_t step = rows_per_pass();
    return std::min(backend_.shards(), (rows + step - 1) / step);
}

void Network::share(Communicator& ranks) {
    DeviceParameters probe(layout_, backend_);
    if (backend_.on_host(probe.all()).empty()) return;
    ranks_ = &ranks;
    owners_ = LayerOwners(layout_, ranks);
}

Network::Shards Network::shards_of_rank(std::size_t shards, std::size_t rank) const {
    const std::size_t working = std::min(shards, ranks_->size());
    if (rank >= working) return {shards, shards};
    return {shards * rank / working, shards * (rank + 1) / working};
}

void Network::for_shards(std::size_t rows, ThreadPool& pool, const ShardTask& task) {
    const std::size_t step = rows_per_pass();
    const std::size_t passes = (rows + step - 1) / step;
    const std::size_t shards = shards_for(rows);
    const Shards own = shards_of_rank(shards, ranks_->rank());
    std::vector<std::size_t> free_slots(std::min(own.size(), pool.threads()));
    std::iota(free_slots.begin(), free_slots.end(), std::size_t{0});
    open_slots(free_slots.size(), use_ == PassUse::recovery ? std::min(rows, step) : step);
    std::mutex mutex;
    pool.run(own.size(), [&](std::size_t i) {
        const std::size_t shard = own.begin + i;
        std::size_t slot = 0;
        {
            std::lock_guard lock(mutex);
            slot = free_slots.back();
            free_slots.pop_back();
        }
        for (std::size_t p = shard; p < passes; p += shards)
            task(shard, slot, p * step, std::min(rows, (p + 1) * step));
        std::lock_guard lock(mutex);
        free_slots.push_back(slot);
    });
}

void Network::for_passes(std::size_t rows, std::size_t rank,
                         const std::function<void(std::size_t, std::size_t)>& take) const {
    const std::size_t step = rows_per_pass();
    const std::size_t passes = (rows + step - 1) / step;
    const std::size_t shards = shards_for(rows);
    const Shards own = shards_of_rank(shards, rank);
    for (std::size_t p = 0; p < passes; ++p)
        if (p % shards >= own.begin && p % shards < own.end)
            take(p * step, std::min(rows, (p + 1) * step));
}

std::size_t Network::place_of(std::size_t begin, std::size_t rows) const {
    const std::size_t step = rows_per_pass();
    const std::size_t shards = shards_for(rows);
    const Shards own = shards_of_rank(shards, ranks_->rank());
    // Of each round of shards the passes of this rank's are here.
    const std::size_t pass = begin / step;
    return (pass / shards * own.size() + pass % shards - own.begin) * step;
}

void Network::exchange_rows(BatchView rows) {
    if (!ranks_->several()) return;
    std::vector<std::size_t> counts(ranks_->size(), 0);
    for (std::size_t r = 0; r < counts.size(); ++r)
        for_passes(rows.rows, r, [&](std::size_t begin, std::size_t end) {
            counts[r] += (end - begin) * rows.cols;
        });
    const std::size_t most = *std::max_element(counts.begin(), counts.end());
    std::vector<float> own(most), all(most * counts.size());
    const auto visit = [&](std::size_t rank, float* at, bool out) {
        for_passes(rows.rows, rank, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i, at += rows.cols)
                if (out)
                    std::copy_n(rows.row(i).begin(), rows.cols, at);
                else
                    std::copy_n(at, rows.cols, rows.row(i).begin());
        });
    };
    visit(ranks_->rank(), own.data(), true);
    ranks_->all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
    for (std::size_t r = 0; r < counts.size(); ++r)
        if (r != ranks_->rank()) visit(r, all.data() + r * most, false);
}

Batch Network::recover_coefficients(const DeviceParameters& effective, ConstBatchView y,
                                    ThreadPool& pool, std::vector<Batch>* every_layer) {
    if (y.cols != measurement_cols_)
        fail_input(
            fmt::format("expected {} measurements per row, got {}", measurement_cols_, y.cols),
            "give measurements made by this model's operator");
    Batch out(y.rows, signal_cols_);
    if (every_layer) every_layer->assign(spec_.layers, Batch(y.rows, signal_cols_));
    const auto folded = fold(y);
    for_shards(folded.rows, pool,
               [&](std::size_t, std::size_t slot, std::size_t begin, std::size_t end) {
                   const auto rows_of = [&](Batch& batch) {
                       const BatchView all = batch;
                       return BatchView(all.data, all.rows * repeat_, all.cols / repeat_)
                           .row_range(begin, end);
                   };
                   forward_rows(slot, effective, folded.row_range(begin, end), [&](std::size_t k) {
                       if (every_layer) return rows_of((*every_layer)[k - 1]);
                       return k == spec_.layers ? rows_of(out) : BatchView();
                   });
               });
    const auto exchange = [&](Batch& batch) {
        exchange_rows({batch.data(), batch.rows() * repeat_, batch.cols() / repeat_});
    };
    if (!every_layer) exchange(out);
    for (std::size_t k = 0; every_layer && k < every_layer->size(); ++k)
        exchange((*every_layer)[k]);
    return every_layer ? every_layer->back() : std::move(out);
}

Batch Network::recover_on_first(const DeviceParameters& effective, const BatchPart& batch,
                                ThreadPool& pool) {
    const std::size_t rows = batch.rows * repeat_, cols = signal_cols_ / repeat_;
    Batch here(batch.y.rows, cols);
    for_shards(rows, pool, [&](std::size_t, std::size_t slot, std::size_t begin, std::size_t end) {
        const std::size_t at = place_of(begin, rows);
        const std::size_t last = at + end - begin;
        forward_rows(slot, effective, batch.y.row_range(at, last), [&](std::size_t k) {
            return k == spec_.layers ? BatchView(here).row_range(at, last) : BatchView();
        });
    });
    const std::size_t size = ranks_->size();
    std::vector<std::span<const std::byte>> out(size);
    std::vector<std::span<std::byte>> in(size);
    std::vector<Batch> parts(size);
    for (std::size_t r = 1; r < size && ranks_->first(); ++r) {
        std::size_t count = 0;
        for_passes(rows, r, [&](std::size_t begin, std::size_t end) { count += end - begin; });
        parts[r] = Batch(count, cols);
        in[r] = std::as_writable_bytes(parts[r].values());
    }
    if (!ranks_->first()) out[0] = std::as_bytes(std::as_const(here).values());
    ranks_->exchange(out, in);
    if (!ranks_->first()) return {};
    parts[0] = std::move(here);
    Batch x(batch.rows, signal_cols_);
    for (std::size_t r = 0; r < size; ++r) {
        const float* from = parts[r].data();
        for_passes(rows, r, [&](std::size_t begin, std::size_t end) {
            std::copy_n(from, (end - begin) * cols, x.data() + begin * cols);
            from += (end - begin) * cols;
        });
    }
    return x;
}

Batch Network::recover_coefficients(const ParameterStore& effective, ConstBatchView y,
                                    ThreadPool& pool, std::vector<Batch>* every_layer) {
    return recover_coefficients(DeviceParameters(effective, backend_), y, pool, every_layer);
}

double Network::gradient(const DeviceParameters& effective, ConstBatchView y, ConstBatchView target,
                         RowLoss loss, std::span<const float> row_weights,
                         DeviceParameters& gradient, ThreadPool& pool) {
    ensure(y.cols == measurement_cols_ && target.cols == signal_cols_ && !ranks_->several(),
           "gradient of batches that do not fit the network");
    return this->gradient(effective, {y.rows, fold(y), fold(target)}, loss, row_weights, gradient,
                          pool);
}

double Network::gradient(const DeviceParameters& effective, const BatchPart& batch, RowLoss loss,
                         std::span<const float> row_weights, DeviceParameters& gradient,
                         ThreadPool& pool) {
    const std::size_t rows = batch.rows * repeat_;
    const std::size_t shards = shards_for(rows);
    const Shards own = shards_of_rank(shards, ranks_->rank());
    std::size_t passes = 0, here = 0;
    for_passes(rows, ranks_->rank(), [&](std::size_t begin, std::size_t end) {
        ++passes;
        here += end - begin;
    });
    ensure(use_ == PassUse::training && rows > 0 && batch.y.rows == here &&
               batch.target.rows == here && row_weights.size() == batch.rows,
           "gradient of batches that do not fit the network");
    std::vector<float> weights(row_weights.begin(), row_weights.end());
    if (repeat_ > 1) {
        weights.resize(rows);
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = row_weights[i / repeat_];
    }
    // One shard needs no sum, and so no gradient beside the result.
    while (shards > 1 && shard_gradients_.size() < own.size())
        shard_gradients_.emplace_back(layout_, backend_);
    const auto of_shard = [&](std::size_t shard) -> DeviceParameters& {
        return shards > 1 ? shard_gradients_[shard - own.begin] : gradient;
    };
    std::vector<DeviceParameters*> parts;
    for (std::size_t shard = own.begin; shard < own.end; ++shard) parts.push_back(&of_shard(shard));
    std::optional<RankSum> sum;
    if (ranks_->several())
        sum.emplace(*ranks_, owners_, std::min(shards, ranks_->size()), passes, parts, gradient,
                    backend_, pool);
    const LayerDone layer_done = [&](std::size_t k) {
        if (sum) sum->layer_done(k);
    };
    std::vector<double> losses(shards, 0.0);
    std::vector<char> started(shards, 0);
    for_shards(rows, pool,
               [&](std::size_t shard, std::size_t slot, std::size_t begin, std::size_t end) {
                   const std::size_t at = place_of(begin, rows);
                   const Into into = started[shard] ? Into::add : Into::assign;
                   if (into == Into::assign) backend_.fill(0, of_shard(shard).scalars());
                   started[shard] = 1;
                   losses[shard] +=
                       gradient_rows(slot, effective, batch.y.row_range(at, at + end - begin),
                                     batch.target.row_range(at, at + end - begin), loss,
                                     std::span<const float>(weights).subspan(begin, end - begin),
                                     of_shard(shard), into, layer_done);
               });
    if (sum) {
        sum->finish(losses, own.begin, own.end);
    } else if (shards > 1) {
        std::vector<ConstBufferView> all;
        for (DeviceParameters* part : parts) all.push_back(part->all());
        backend_.sum(all, gradient.all(), pool);
    }
    for (const std::size_t k : owners_.own())
        if (!gradient.weights(k).empty() && layout_->structure(k).is_complex())
            backend_.average_pairs(layout_->structure(k), gradient.weights(k));
    return std::accumulate(losses.begin(), losses.end(), 0.0);
}

double Network::gradient(const ParameterStore& effective, ConstBatchView y, ConstBatchView target,
                         RowLoss loss, std::span<const float> row_weights, ParameterStore& gradient,
                         ThreadPool& pool) {
    DeviceParameters result(layout_, backend_);
    const double total = this->gradient(DeviceParameters(effective, backend_), y, target, loss,
                                        row_weights, result, pool);
    result.download(gradient.values());
    return total;
}

std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Operator& op, Backend& backend,
                                      PassUse use) {
    spec.validate();
    if (spec.architecture == Architecture::fcn)
        return std::make_unique<FullyConnectedNet>(spec, op, backend, use);
    return std::make_unique<UnrolledNet>(spec, op, backend, use);
}

}  // namespace pibinn
