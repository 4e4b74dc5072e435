#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/layer_owners.hpp"
#include "pibinn/communicator.hpp"

namespace pibinn {

/// The gradient of one batch, summed over the shards of all ranks in the order of the shards, while
/// it is made: the weights of a layer travel as soon as the last pass of this rank has gone back
/// through it, and the passes of the layers before hide some of the way. The sum of a layer goes to
/// its owner, and those of the scalars to all. For one step, on a backend whose numbers are in host
/// memory.
class RankSum {
public:
    /// `parts` are the gradients of this rank's shards; where one of them is `gradient` itself,
    /// it is the only shard of all. `adding` ranks have shards; this one has `passes`.
    RankSum(Communicator& ranks, const LayerOwners& owners, std::size_t adding, std::size_t passes,
            std::vector<DeviceParameters*> parts, DeviceParameters& gradient, Backend& backend,
            ThreadPool& pool);

    /// One pass has gone back through layer k. From any thread.
    void layer_done(std::size_t k);
    /// Waits for the gradient that comes here, and for the losses of all shards; those of [begin,
    /// end) are this rank's.
    void finish(std::vector<double>& losses, std::size_t begin, std::size_t end);

private:
    struct Range {
        std::size_t begin, size;
        std::optional<std::size_t> to;
    };
    void add_range(ParameterLayout::Range range, std::optional<std::size_t> to);
    void add_own(const Range& range, bool first);

    Communicator& ranks_;
    std::vector<DeviceParameters*> parts_;
    DeviceParameters& gradient_;
    Backend& backend_;
    ThreadPool& pool_;
    std::vector<Range> pieces_;
    std::vector<std::size_t> first_piece_;        ///< of layer K, K - 1, .., 1, and of the scalars
    std::vector<std::atomic<std::size_t>> left_;  ///< passes that have yet to reach layer k
    std::unique_ptr<OrderedSum> sum_;
};

}  // namespace pibinn
