#include "pibinn/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <Random123/philox.h>
#include <gtest/gtest.h>

namespace pibinn {
namespace {

using Words = std::array<std::uint32_t, 4>;

Words first_words(Stream stream) {
    return {stream.word(), stream.word(), stream.word(), stream.word()};
}

Words philox(Words counter, std::array<std::uint32_t, 2> key) {
    const auto out =
        r123::Philox4x32()({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
    return {out[0], out[1], out[2], out[3]};
}

// Golden values: the lines "philox4x32 10" of Random123's kat_vectors.
TEST(Stream, TheGeneratorIsPhiloxOfTheKnownAnswers) {
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
              (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
              (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
    EXPECT_EQ(first_words(Stream(0, Purpose{0})),
              (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Stream, BlocksAreCountedInTheDocumentedPlaces) {
    const std::uint64_t seed = 0x0123456789abcdef;
    const std::uint64_t index = 0xfedcba9876543210;
    Stream stream(seed, Purpose::shuffle, index);
    for (std::uint32_t block = 0; block < 3; ++block) {
        const Words expected = philox({block, 0x76543210, 0xfedcba98, 7}, {0x89abcdef, 0x01234567});
        for (std::uint32_t word : expected) EXPECT_EQ(stream.word(), word);
    }
}

TEST(Stream, NumbersFollowFromWordsAsDocumented) {
    Stream words(5, Purpose::tests);
    Stream uniform(5, Purpose::tests);
    EXPECT_EQ(uniform.uniform(), (words.word() + 0.5) / 4294967296.0);
    EXPECT_EQ(uniform.below(1000), (std::uint64_t{words.word()} * 1000) >> 32);
    const double u1 = (words.word() + 0.5) / 4294967296.0;
    const double u2 = (words.word() + 0.5) / 4294967296.0;
    EXPECT_DOUBLE_EQ(uniform.normal(), std::sqrt(-2 * std::log(u1)) * std::cos(2 * M_PI * u2));
}

TEST(Stream, MomentsAreThoseOfTheDistributions) {
    // Bounds are five standard errors of each mean for 200000 numbers.
    constexpr int count = 200000;
    const double root = std::sqrt(double{count});
    Stream stream(1, Purpose::tests);
    double uniform = 0;
    double mean = 0;
    double square = 0;
    double fourth = 0;
    double hits = 0;
    for (int i = 0; i < count; ++i) {
        const double u = stream.uniform();
        ASSERT_GT(u, 0);
        ASSERT_LT(u, 1);
        uniform += u / count;
        const double z = stream.normal();
        mean += z / count;
        square += z * z / count;
        fourth += z * z * z * z / count;
        hits += stream.bernoulli(0.05) ? 1.0 / count : 0;
    }
    EXPECT_NEAR(uniform, 0.5, 5 * std::sqrt(1 / 12.0) / root);
    EXPECT_NEAR(mean, 0, 5 / root);
    EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0) / root);
    EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96.0) / root);
    EXPECT_NEAR(hits, 0.05, 5 * std::sqrt(0.05 * 0.95) / root);
}

TEST(Stream, PermutationHoldsEveryIndexOnce) {
    for (std::size_t n : {0u, 1u, 1000u}) {
        auto order = Stream(2, Purpose::shuffle, n).permutation(n);
        ASSERT_EQ(order.size(), n);
        EXPECT_NE(std::is_sorted(order.begin(), order.end()), n == 1000);
        std::sort(order.begin(), order.end());
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(order[i], i);
    }
}

TEST(Stream, AllPermutationsOfThreeAreEquallyLikely) {
    std::array<int, 27> seen{};
    for (std::uint64_t index = 0; index < 6000; ++index) {
        const auto p = Stream(3, Purpose::shuffle, index).permutation(3);
        ++seen[p[0] * 9 + p[1] * 3 + p[2]];
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 21);
    for (int count : seen) {
        if (count == 0) continue;
        EXPECT_NEAR(count, 1000, 5 * std::sqrt(6000 * (1 / 6.0) * (5 / 6.0)));
    }
}

TEST(Stream, SeedPurposeAndIndexEachGiveANewStream) {
    std::set<Words> seen;
    for (std::uint64_t seed : {0ull, 1ull, 1ull << 32})
        for (Purpose purpose : {Purpose::train_signals, Purpose::test_signals, Purpose::weights})
            for (std::uint64_t index : {0ull, 1ull, 1ull << 32})
                seen.insert(first_words(Stream(seed, purpose, index)));
    EXPECT_EQ(seen.size(), 27u);
}

TEST(Stream, NeighbouringStreamsAreUncorrelated) {
    Stream a(4, Purpose::tests, 0);
    Stream b(4, Purpose::tests, 1);
    double product = 0;
    constexpr int count = 100000;
    for (int i = 0; i < count; ++i) product += a.normal() * b.normal() / count;
    EXPECT_NEAR(product, 0, 5 / std::sqrt(double{count}));
}

}  // namespace
}  // namespace pibinn
