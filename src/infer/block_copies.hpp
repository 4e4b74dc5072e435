#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "infer/packed_block.hpp"

namespace pibinn {

/// The blocks of a network, and a copy of them for every other worker of a pool where that pays:
/// what two cores read alike, each through its own L2 cache, both read more slowly. With a copy for
/// each, two threads were faster by 10 % at 128 x 256, by 5 to 9 % at 256 x 512 and by 4 % at
/// 64 x 128 (20 layers, Ice Lake); level where all stays in the L1 cache (50 x 100) or comes from
/// the shared one (512 x 1024).
class BlockCopies {
public:
    explicit BlockCopies(std::vector<PackedBlock> blocks);

    const std::vector<PackedBlock>& blocks() const { return blocks_; }
    /// For one worker of a pool. The first call for it makes them; any number of threads may call.
    const std::vector<PackedBlock>& blocks_of(std::size_t worker) const;
    std::size_t bytes() const;  ///< of one copy

private:
    struct Copy {
        std::once_flag made;
        std::vector<PackedBlock> blocks;
    };
    /// More workers than this share.
    static constexpr std::size_t kMost = 64;

    std::vector<PackedBlock> blocks_;
    std::unique_ptr<Copy[]> copies_;  ///< kMost of them; null where one for all is as good
};

}  // namespace pibinn
