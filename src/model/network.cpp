#include "model/network.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "model/fully_connected_net.hpp"
#include "model/unrolled_net.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// More lanes than any machine this is meant for has cores for one training; each costs one
// gradient.
constexpr std::size_t kLanes = 8;
// Numbers of a gradient that one task adds up over the lanes: enough to be worth a task, and few
// enough to stay in the cache while lane after lane is added.
constexpr std::size_t kNumbersPerTask = 16384;

}  // namespace

Network::Network(NetworkSpec spec, const Operator& op, Backend& backend)
    : spec_(spec),
      layout_(std::make_shared<const ParameterLayout>(spec, op.structure())),
      backend_(backend),
      repeat_(spec.architecture == Architecture::unrolled ? op.structure().repeat() : 1),
      signal_cols_(op.cols()),
      measurement_cols_(op.rows()) {}

MatrixView<const float> Network::fold(ConstBatchView batch) const {
    ensure(repeat_ == 1 || batch.contiguous(), "a repeated network needs batches without gaps");
    if (repeat_ == 1) return batch;
    return {batch.data, batch.rows * repeat_, batch.cols / repeat_};
}

std::size_t Network::lanes_for(std::size_t rows) const {
    const std::size_t step = backend_.rows_per_pass();
    return std::min(kLanes, (rows + step - 1) / step);
}

void Network::for_lanes(std::size_t rows, ThreadPool& pool, const LaneTask& task) {
    const std::size_t step = backend_.rows_per_pass();
    const std::size_t passes = (rows + step - 1) / step;
    const std::size_t lanes = lanes_for(rows);
    std::vector<std::size_t> free_slots(std::min(lanes, pool.threads()));
    std::iota(free_slots.begin(), free_slots.end(), std::size_t{0});
    open_slots(free_slots.size());
    std::mutex mutex;
    pool.run(lanes, [&](std::size_t lane) {
        std::size_t slot = 0;
        {
            std::lock_guard lock(mutex);
            slot = free_slots.back();
            free_slots.pop_back();
        }
        for (std::size_t p = lane; p < passes; p += lanes)
            task(lane, slot, p * step, std::min(rows, (p + 1) * step));
        std::lock_guard lock(mutex);
        free_slots.push_back(slot);
    });
}

Batch Network::recover_coefficients(const ParameterStore& effective, ConstBatchView y,
                                    ThreadPool& pool, std::vector<Batch>* every_layer) {
    if (y.cols != measurement_cols_)
        fail_input(
            fmt::format("expected {} measurements per row, got {}", measurement_cols_, y.cols),
            "give measurements made by this model's operator");
    Batch out(y.rows, signal_cols_);
    if (every_layer) every_layer->assign(spec_.layers, Batch(y.rows, signal_cols_));
    const auto folded = fold(y);
    for_lanes(folded.rows, pool,
              [&](std::size_t, std::size_t slot, std::size_t begin, std::size_t end) {
                  const auto emit = [&](std::size_t k, std::size_t first_col, ConstBatchView x) {
                      const auto copy_to = [&](Batch& to) {
                          BatchView all = to;
                          BatchView rows(all.data, all.rows * repeat_, all.cols / repeat_);
                          for (std::size_t i = 0; i < x.rows; ++i)
                              std::copy_n(x.row(i).begin(), x.cols, &rows(begin + i, first_col));
                      };
                      if (every_layer) copy_to((*every_layer)[k - 1]);
                      if (k == spec_.layers) copy_to(out);
                  };
                  forward_rows(slot, effective, folded.row_range(begin, end), emit);
              });
    return out;
}

double Network::gradient(const ParameterStore& effective, ConstBatchView y, ConstBatchView target,
                         RowLoss loss, std::span<const float> row_weights, ParameterStore& gradient,
                         ThreadPool& pool) {
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
    while (lane_gradients_.size() < kLanes) lane_gradients_.emplace_back(layout_);
    std::vector<double> losses(kLanes, 0.0);
    const std::size_t lanes = lanes_for(y_rows.rows);
    std::vector<char> started(lanes, 0);
    for_lanes(y_rows.rows, pool,
              [&](std::size_t lane, std::size_t slot, std::size_t begin, std::size_t end) {
                  const Into into = started[lane] ? Into::add : Into::assign;
                  if (into == Into::assign) {
                      const auto scalars =
                          lane_gradients_[lane].values().subspan(layout_->weights_size());
                      std::fill(scalars.begin(), scalars.end(), 0.0F);
                  }
                  started[lane] = 1;
                  losses[lane] +=
                      gradient_rows(slot, effective, y_rows.row_range(begin, end),
                                    target_rows.row_range(begin, end), loss,
                                    std::span<const float>(weights).subspan(begin, end - begin),
                                    lane_gradients_[lane], into);
              });
    const auto total = gradient.values();
    pool.run_chunks(
        total.size(), kNumbersPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
            const auto part = [&](auto values) { return values.subspan(begin, end - begin); };
            const auto first = part(lane_gradients_[0].values());
            std::copy(first.begin(), first.end(), part(total).begin());
            for (std::size_t lane = 1; lane < lanes; ++lane)
                backend_.add(part(lane_gradients_[lane].values()), part(total));
        });
    return std::accumulate(losses.begin(), losses.end(), 0.0);
}

std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Operator& op,
                                      Backend& backend) {
    spec.validate();
    if (spec.architecture == Architecture::fcn)
        return std::make_unique<FullyConnectedNet>(spec, op, backend);
    return std::make_unique<UnrolledNet>(spec, op, backend);
}

}  // namespace pibinn
