#include "infer/part_copies.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

/// One part whose operator is of so many numbers.
std::vector<PackedPart> parts_of_size(std::size_t floats) {
    std::vector<PackedPart> parts(1);
    parts[0].m = 1;
    parts[0].n = floats;
    parts[0].a.resize(floats);
    for (std::size_t i = 0; i < floats; ++i) parts[0].a[i] = static_cast<float>(i);
    return parts;
}

constexpr std::size_t kMiddle = 100'000;

TEST(PartCopies, GivesEveryWorkerItsOwn) {
    const PartCopies copies(parts_of_size(kMiddle));
    EXPECT_EQ(copies.bytes(), kMiddle * sizeof(float));
    EXPECT_EQ(&copies.parts_of(0), &copies.parts());
    const auto& first = copies.parts_of(1);
    const auto& second = copies.parts_of(2);
    EXPECT_NE(first[0].a.data(), copies.parts()[0].a.data());
    EXPECT_NE(first[0].a.data(), second[0].a.data());
    EXPECT_EQ(first[0].a, copies.parts()[0].a);
    EXPECT_EQ(second[0].n, kMiddle);
    EXPECT_EQ(&copies.parts_of(1), &first);
}

TEST(PartCopies, LetsAllShareWhatIsSmallOrLarge) {
    for (const std::size_t floats : {1'000U, 1'000'000U}) {
        const PartCopies copies(parts_of_size(floats));
        EXPECT_EQ(&copies.parts_of(1), &copies.parts());
    }
}

TEST(PartCopies, HasSomeForAnyNumberOfWorkers) {
    const PartCopies copies(parts_of_size(kMiddle));
    for (const std::size_t worker : {63U, 64U, 65U, 1000U})
        EXPECT_EQ(copies.parts_of(worker)[0].a, copies.parts()[0].a) << worker;
}

TEST(PartCopies, IsMadeOnceByThreadsThatAskTogether) {
    const PartCopies copies(parts_of_size(kMiddle));
    std::vector<const std::vector<PackedPart>*> got(4);
    std::vector<std::thread> threads;
    for (auto& mine : got) threads.emplace_back([&] { mine = &copies.parts_of(3); });
    for (std::thread& thread : threads) thread.join();
    for (const auto* mine : got) {
        EXPECT_EQ(mine, got[0]);
        EXPECT_EQ((*mine)[0].a, copies.parts()[0].a);
    }
}

}  // namespace
}  // namespace pibinn
