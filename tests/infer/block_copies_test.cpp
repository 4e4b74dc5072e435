#include "infer/block_copies.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

/// One block whose operator has so many numbers.
std::vector<PackedBlock> blocks_of_size(std::size_t floats) {
    std::vector<PackedBlock> blocks(1);
    blocks[0].m = 1;
    blocks[0].n = floats;
    blocks[0].a.resize(floats);
    for (std::size_t i = 0; i < floats; ++i) blocks[0].a[i] = static_cast<float>(i);
    return blocks;
}

constexpr std::size_t kMiddle = 100'000;

TEST(BlockCopies, GivesEveryWorkerItsOwn) {
    const BlockCopies copies(blocks_of_size(kMiddle));
    EXPECT_EQ(copies.bytes(), kMiddle * sizeof(float));
    EXPECT_EQ(&copies.blocks_of(0), &copies.blocks());
    const auto& first = copies.blocks_of(1);
    const auto& second = copies.blocks_of(2);
    EXPECT_NE(first[0].a.data(), copies.blocks()[0].a.data());
    EXPECT_NE(first[0].a.data(), second[0].a.data());
    EXPECT_EQ(first[0].a, copies.blocks()[0].a);
    EXPECT_EQ(second[0].n, kMiddle);
    EXPECT_EQ(&copies.blocks_of(1), &first);
}

TEST(BlockCopies, LetsAllShareWhatIsSmallOrLarge) {
    for (const std::size_t floats : {1'000U, 1'000'000U}) {
        const BlockCopies copies(blocks_of_size(floats));
        EXPECT_EQ(&copies.blocks_of(1), &copies.blocks());
    }
}

TEST(BlockCopies, HasSomeForAnyNumberOfWorkers) {
    const BlockCopies copies(blocks_of_size(kMiddle));
    for (const std::size_t worker : {63U, 64U, 65U, 1000U})
        EXPECT_EQ(copies.blocks_of(worker)[0].a, copies.blocks()[0].a) << worker;
}

TEST(BlockCopies, IsMadeOnceByThreadsThatAskTogether) {
    const BlockCopies copies(blocks_of_size(kMiddle));
    std::vector<const std::vector<PackedBlock>*> got(4);
    std::vector<std::thread> threads;
    for (auto& mine : got) threads.emplace_back([&] { mine = &copies.blocks_of(3); });
    for (std::thread& thread : threads) thread.join();
    for (const auto* mine : got) {
        EXPECT_EQ(mine, got[0]);
        EXPECT_EQ((*mine)[0].a, copies.blocks()[0].a);
    }
}

}  // namespace
}  // namespace pibinn
