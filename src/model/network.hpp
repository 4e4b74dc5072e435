#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "algebra/backend.hpp"
#include "model/device_parameters.hpp"
#include "model/layer_owners.hpp"
#include "model/network_sites.hpp"
#include "pibinn/communicator.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// The rows of a batch that one rank works through: those of its passes, one after the other, with
/// repetitions folded into rows. Of one process these are all rows.
struct BatchPart {
    std::size_t rows = 0;  ///< of the whole batch, before folding
    ConstBatchView y, target;
};

/// A network in motion: it runs effective parameters forward, and backward into a store of the same
/// layout. It owns the working memory of its passes, so one thread at a time may call it; the work
/// itself is spread over the pool.
class Network {
public:
    virtual ~Network() = default;

    const NetworkSpec& spec() const { return spec_; }
    const std::shared_ptr<const ParameterLayout>& layout() const { return layout_; }

    /// x_K of every row of y. With `every_layer`, x_1 .. x_K go there too.
    Batch recover_coefficients(const DeviceParameters& effective, ConstBatchView y,
                               ThreadPool& pool, std::vector<Batch>* every_layer = nullptr);
    /// The same for parameters on the host.
    Batch recover_coefficients(const ParameterStore& effective, ConstBatchView y, ThreadPool& pool,
                               std::vector<Batch>* every_layer = nullptr);

    /// All ranks: x_K of every row of a batch of which only the rows of this rank are here, on the
    /// first rank.
    Batch recover_on_first(const DeviceParameters& effective, const BatchPart& batch,
                           ThreadPool& pool);

    /// The weighted loss summed over the rows, and its gradient by the effective parameters.
    /// In a `repeated` or `blocks` network the loss `norm` is that of each block.
    double gradient(const DeviceParameters& effective, ConstBatchView y, ConstBatchView target,
                    RowLoss loss, std::span<const float> row_weights, DeviceParameters& gradient,
                    ThreadPool& pool);
    /// The same of a batch of which only the rows of this rank are here. Where ranks share the
    /// work, only the gradients of the layers that are owned here are of use, and the scalars'.
    double gradient(const DeviceParameters& effective, const BatchPart& batch, RowLoss loss,
                    std::span<const float> row_weights, DeviceParameters& gradient,
                    ThreadPool& pool);
    /// The same for parameters on the host.
    double gradient(const ParameterStore& effective, ConstBatchView y, ConstBatchView target,
                    RowLoss loss, std::span<const float> row_weights, ParameterStore& gradient,
                    ThreadPool& pool);

    /// What hard thresholds are taken for from now on (LayerSettings); at first both are 0.
    void set_ramp(double ramp, double softening) {
        ramp_ = static_cast<float>(ramp);
        softening_ = static_cast<float>(softening);
    }

    /// From now on all ranks call recover_coefficients and gradient with the same batches; each
    /// works through its own shards, and gets the same bytes as one process. Where numbers are not
    /// in host memory, every rank does all of the work.
    void share(Communicator& ranks);
    /// Which layers' gradients come to which rank.
    const LayerOwners& owners() const { return owners_; }
    /// Who shares the work: one process where nobody does.
    Communicator& ranks() const { return *ranks_; }
    /// Repetitions that are folded into rows.
    std::size_t repeat() const { return repeat_; }
    /// Calls take(first row, last row) for every pass of a rank in a batch of folded rows, in
    /// order.
    void for_passes(std::size_t rows, std::size_t rank,
                    const std::function<void(std::size_t, std::size_t)>& take) const;

protected:
    Network(NetworkSpec spec, const Operator& op, Backend& backend, PassUse use);

    /// Some rows of a batch in the working memory `slot`. `wanted(k)` says where x_k goes; a view
    /// of no rows leaves it.
    using Wanted = std::function<BatchView(std::size_t k)>;
    virtual void forward_rows(std::size_t slot, const DeviceParameters& effective, ConstBatchView y,
                              const Wanted& wanted) = 0;
    /// `into` is for the weights; the scalars are always added. `layer_done(k)` hears that the
    /// weights of layer k = K..1 are done.
    using LayerDone = std::function<void(std::size_t k)>;
    virtual double gradient_rows(std::size_t slot, const DeviceParameters& effective,
                                 ConstBatchView y, ConstBatchView target, RowLoss loss,
                                 std::span<const float> weights, DeviceParameters& gradient,
                                 Into into, const LayerDone& layer_done) = 0;
    /// Makes working memory for slots [0, slots), each for so many rows: one per thread, so that a
    /// thread's stays in its cache.
    virtual void open_slots(std::size_t slots, std::size_t rows) = 0;

    /// A whole number of groups.
    std::size_t rows_per_pass() const;

    NetworkSpec spec_;
    PassUse use_;
    std::shared_ptr<const ParameterLayout> layout_;
    Backend& backend_;
    Sites sites_;
    std::size_t repeat_ = 1;  ///< repetitions folded into rows
    std::size_t signal_cols_ = 0;
    std::size_t measurement_cols_ = 0;
    float ramp_ = 0;
    float softening_ = 0;

private:
    /// Cuts rows into passes and deals them to a fixed number of shards, each working through its
    /// own in order: sums per shard do not depend on how many threads there are. Calls
    /// task(shard, slot, begin, end).
    using ShardTask = std::function<void(std::size_t, std::size_t, std::size_t, std::size_t)>;
    void for_shards(std::size_t rows, ThreadPool& pool, const ShardTask& task);
    std::size_t shards_for(std::size_t rows) const;
    /// The same of one rank's shards; those of all ranks follow each other.
    struct Shards {
        std::size_t begin = 0, end = 0;
        std::size_t size() const { return end - begin; }
    };
    Shards shards_of_rank(std::size_t shards, std::size_t rank) const;
    /// Where the row `begin`, with which a pass of this rank begins, stands among the rows of this
    /// rank's passes.
    std::size_t place_of(std::size_t begin, std::size_t rows) const;
    /// Rows that the ranks made, on all of them.
    void exchange_rows(BatchView rows);
    ConstBatchView fold(ConstBatchView batch) const;

    Communicator* ranks_ = &alone();
    LayerOwners owners_;
    std::vector<DeviceParameters> shard_gradients_;  ///< of this rank's shards
};

/// The unrolled network on the structure of its operator; `fcn` on none. One made for recovery has
/// no gradient, and takes memory for the rows that it was given at most.
std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Operator& op, Backend& backend,
                                      PassUse use = PassUse::training);

}  // namespace pibinn
