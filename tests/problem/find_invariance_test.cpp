#include "problem/find_invariance.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/sparse_prior.hpp"

namespace pibinn {
namespace {

Batch sparse(std::size_t rows, std::size_t n, std::uint64_t seed, SparsePrior prior = {}) {
    ThreadPool pool(1);
    return draw_signals(prior, rows, n, seed, Purpose::tests, pool);
}

TEST(FindInvariance, ExchangeableSignalsAreFoundWhateverTheSeedSizeAndUnit) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
        for (const std::size_t rows : {40UL, 200UL, 3000UL}) {
            Batch x = sparse(rows, 100, seed);
            for (float& v : x.values()) v *= 1e-7F;
            const FoundInvariance found = find_invariance(x);
            EXPECT_EQ(found.invariance, Invariance::shifts) << seed << ' ' << found.why;
        }
}

TEST(FindInvariance, AFixedSupportLeavesTheSigns) {
    SparsePrior prior;
    prior.support = {1, 5, 30};
    EXPECT_EQ(find_invariance(sparse(100, 40, 1, prior)).invariance, Invariance::signs);
}

TEST(FindInvariance, SignalsWithoutNegativeEntriesLeaveThePlaces) {
    Batch x = sparse(300, 60, 2);
    for (float& v : x.values()) v = std::abs(v);
    EXPECT_EQ(find_invariance(x).invariance, Invariance::places);
}

TEST(FindInvariance, SignsThatFollowTheirSignalLeaveThePlaces) {
    Batch x = sparse(400, 60, 3);
    for (std::size_t i = 0; i < x.rows(); ++i)
        for (float& v : x.row(i)) v = i % 2 == 0 ? std::abs(v) : -std::abs(v);
    EXPECT_EQ(find_invariance(x).invariance, Invariance::places);
}

TEST(FindInvariance, EntriesThatFadeAlongTheSignalLeaveTheSigns) {
    Batch x = sparse(400, 64, 4);
    for (std::size_t i = 0; i < x.rows(); ++i)
        for (std::size_t j = 0; j < 64; ++j) x(i, j) *= std::exp(-0.02F * static_cast<float>(j));
    EXPECT_EQ(find_invariance(x).invariance, Invariance::signs);
}

TEST(FindInvariance, NothingIsSaidOfDenseSignalsOrOfAFewEntries) {
    SparsePrior dense;
    dense.density = 1;
    const FoundInvariance full = find_invariance(sparse(100, 20, 5, dense));
    EXPECT_EQ(full.invariance, Invariance::none);
    EXPECT_NE(full.why.find("not sparse"), std::string::npos);
    const FoundInvariance few = find_invariance(sparse(5, 50, 5));
    EXPECT_EQ(few.invariance, Invariance::none);
    EXPECT_NE(few.why.find("too few"), std::string::npos);
}

TEST(FindInvariance, AFloorOfNoiseDoesNotHideTheEntriesThatCount) {
    Batch x = sparse(300, 80, 6);
    Stream stream(6, Purpose::tests, 1);
    for (float& v : x.values()) v += static_cast<float>(1e-5 * stream.normal());
    EXPECT_EQ(find_invariance(x).invariance, Invariance::shifts);
}

}  // namespace
}  // namespace pibinn
