#include "model/network.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "model/fully_connected_net.hpp"
#include "model/unrolled_net.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

Network::Network(NetworkSpec spec, const Operator& op, Backend& backend)
    : spec_(spec),
      layout_(std::make_shared<const ParameterLayout>(spec, op.structure())),
      backend_(backend),
      sites_(sites_of(spec, op.structure())),
      repeat_(spec.architecture == Architecture::unrolled ? op.structure().repeat() : 1),
      signal_cols_(op.cols()),
      measurement_cols_(op.rows()) {}

MatrixView<const float> Network::fold(ConstBatchView batch) const {
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

void Network::for_shards(std::size_t rows, ThreadPool& pool, const ShardTask& task) {
    const std::size_t step = rows_per_pass();
    const std::size_t passes = (rows + step - 1) / step;
    const std::size_t shards = shards_for(rows);
    std::vector<std::size_t> free_slots(std::min(shards, pool.threads()));
    std::iota(free_slots.begin(), free_slots.end(), std::size_t{0});
    open_slots(free_slots.size());
    std::mutex mutex;
    pool.run(shards, [&](std::size_t shard) {
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
    return every_layer ? every_layer->back() : std::move(out);
}

Batch Network::recover_coefficients(const ParameterStore& effective, ConstBatchView y,
                                    ThreadPool& pool, std::vector<Batch>* every_layer) {
    return recover_coefficients(DeviceParameters(effective, backend_), y, pool, every_layer);
}

double Network::gradient(const DeviceParameters& effective, ConstBatchView y, ConstBatchView target,
                         RowLoss loss, std::span<const float> row_weights,
                         DeviceParameters& gradient, ThreadPool& pool) {
    ensure(y.rows > 0 && y.cols == measurement_cols_ && target.cols == signal_cols_ &&
               y.rows == target.rows && row_weights.size() == y.rows,
           "gradient of batches that do not fit the network");
    std::vector<float> weights(row_weights.begin(), row_weights.end());
    if (repeat_ > 1) {
        weights.resize(y.rows * repeat_);
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = row_weights[i / repeat_];
    }
    const auto y_rows = fold(y);
    const auto target_rows = fold(target);
    const std::size_t shards = shards_for(y_rows.rows);
    // One shard needs no sum, and so no gradient beside the result.
    while (shards > 1 && shard_gradients_.size() < shards)
        shard_gradients_.emplace_back(layout_, backend_);
    const auto of_shard = [&](std::size_t shard) -> DeviceParameters& {
        return shards > 1 ? shard_gradients_[shard] : gradient;
    };
    std::vector<double> losses(shards, 0.0);
    std::vector<char> started(shards, 0);
    for_shards(y_rows.rows, pool,
               [&](std::size_t shard, std::size_t slot, std::size_t begin, std::size_t end) {
                   const Into into = started[shard] ? Into::add : Into::assign;
                   if (into == Into::assign) backend_.fill(0, of_shard(shard).scalars());
                   started[shard] = 1;
                   losses[shard] +=
                       gradient_rows(slot, effective, y_rows.row_range(begin, end),
                                     target_rows.row_range(begin, end), loss,
                                     std::span<const float>(weights).subspan(begin, end - begin),
                                     of_shard(shard), into);
               });
    if (shards > 1) {
        std::vector<ConstBufferView> parts;
        for (std::size_t shard = 0; shard < shards; ++shard)
            parts.push_back(shard_gradients_[shard].all());
        backend_.sum(parts, gradient.all(), pool);
    }
    for (std::size_t k = 1; k <= spec_.layers && !gradient.weights(k).empty(); ++k)
        if (layout_->structure(k).is_complex())
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

std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Operator& op,
                                      Backend& backend) {
    spec.validate();
    if (spec.architecture == Architecture::fcn)
        return std::make_unique<FullyConnectedNet>(spec, op, backend);
    return std::make_unique<UnrolledNet>(spec, op, backend);
}

}  // namespace pibinn
