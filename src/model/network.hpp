#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "algebra/backend.hpp"
#include "model/parameters.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// A network in motion: it runs effective parameters forward, and backward into a store of the same
/// layout. It owns the working memory of its passes, so one thread at a time may call it; the work
/// itself is spread over the pool.
class Network {
public:
    virtual ~Network() = default;

    const NetworkSpec& spec() const { return spec_; }
    const std::shared_ptr<const ParameterLayout>& layout() const { return layout_; }

    /// x_K of every row of y. With `every_layer`, x_1 .. x_K go there too.
    Batch recover_coefficients(const ParameterStore& effective, ConstBatchView y, ThreadPool& pool,
                               std::vector<Batch>* every_layer = nullptr);

    /// The weighted loss summed over the rows, and its gradient by the effective parameters.
    /// In a `repeated` or `blocks` network the loss `norm` is that of each block.
    double gradient(const ParameterStore& effective, ConstBatchView y, ConstBatchView target,
                    RowLoss loss, std::span<const float> row_weights, ParameterStore& gradient,
                    ThreadPool& pool);

    /// What hard thresholds are taken for from now on (LayerScalars); at first both are 0.
    void set_ramp(double ramp, double softening) {
        ramp_ = static_cast<float>(ramp);
        softening_ = static_cast<float>(softening);
    }

protected:
    Network(NetworkSpec spec, const Operator& op, Backend& backend);

    /// One part of a batch in the working memory `slot`. `emit(k, first column, x_k)` is called
    /// after each layer.
    using Emit = std::function<void(std::size_t, std::size_t, ConstBatchView)>;
    virtual void forward_rows(std::size_t slot, const ParameterStore& effective, ConstBatchView y,
                              const Emit& emit) = 0;
    /// `into` is for the weights; the scalars are always added.
    virtual double gradient_rows(std::size_t slot, const ParameterStore& effective,
                                 ConstBatchView y, ConstBatchView target, RowLoss loss,
                                 std::span<const float> weights, ParameterStore& gradient,
                                 Into into) = 0;
    /// Makes working memory for slots [0, slots): one a thread, so that a thread's stays in its
    /// cache.
    virtual void open_slots(std::size_t slots) = 0;

    NetworkSpec spec_;
    std::shared_ptr<const ParameterLayout> layout_;
    Backend& backend_;
    std::size_t repeat_ = 1;  ///< repetitions folded into rows
    std::size_t signal_cols_ = 0;
    std::size_t measurement_cols_ = 0;
    float ramp_ = 0;
    float softening_ = 0;

private:
    /// Cuts rows into passes and deals them to a fixed number of lanes, each working through its
    /// own in order: sums per lane do not depend on how many threads there are. Calls
    /// task(lane, slot, begin, end).
    using LaneTask = std::function<void(std::size_t, std::size_t, std::size_t, std::size_t)>;
    void for_lanes(std::size_t rows, ThreadPool& pool, const LaneTask& task);
    std::size_t lanes_for(std::size_t rows) const;
    MatrixView<const float> fold(ConstBatchView batch) const;

    std::vector<ParameterStore> lane_gradients_;
};

/// The unrolled network on the structure of its operator; `fcn` on none.
std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Operator& op,
                                      Backend& backend);

}  // namespace pibinn
