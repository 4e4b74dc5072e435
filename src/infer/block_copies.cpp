#include "infer/block_copies.hpp"

#include <utility>

namespace pibinn {

BlockCopies::BlockCopies(std::vector<PackedBlock> blocks) : blocks_(std::move(blocks)) {
    // More than an L1 cache holds, and no more than an L2 cache does.
    constexpr std::size_t least = std::size_t{48} << 10U;
    constexpr std::size_t most = std::size_t{2} << 20U;
    if (bytes() > least && bytes() <= most) copies_ = std::make_unique<Copy[]>(kMost);
}

const std::vector<PackedBlock>& BlockCopies::blocks_of(std::size_t worker) const {
    if (worker % kMost == 0 || copies_ == nullptr) return blocks_;
    Copy& copy = copies_[worker % kMost];
    std::call_once(copy.made, [&] { copy.blocks = blocks_; });
    return copy.blocks;
}

std::size_t BlockCopies::bytes() const {
    std::size_t sum = 0;
    for (const PackedBlock& block : blocks_) sum += block.bytes();
    return sum;
}

}  // namespace pibinn
