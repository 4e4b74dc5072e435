#include "bench/recovery_case.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "bench/our_recovery.hpp"
#include "bench/random_network.hpp"
#include "bench/recovery_peers.hpp"
#include "pibinn/error.hpp"

namespace pibinn::bench {
namespace {

constexpr std::size_t kRows = 256;

RecoveryCase small_case(const Update& update, double density = 0.1) {
    ThreadPool pool(1);
    return random_case(Structure::dense(16, 32), 4, update, density, kRows, pool);
}

TEST(RandomCase, IsTheSameEveryTime) {
    const RecoveryCase one = small_case(Update::accelerated());
    const RecoveryCase other = small_case(Update::accelerated());
    EXPECT_EQ(one.model.weights, other.model.weights);
    EXPECT_EQ(one.model.theta, other.model.theta);
    EXPECT_TRUE(std::ranges::equal(one.y.values(), other.y.values()));
    EXPECT_EQ(case_name(one), "recover-random-16x32x4");
}

TEST(RandomCase, PlainAndAcceleratedShareOperatorWeightsAndSignals) {
    const RecoveryCase plain = small_case(Update::plain());
    const RecoveryCase accelerated = small_case(Update::accelerated());
    EXPECT_TRUE(std::ranges::equal(plain.model.op.values(), accelerated.model.op.values()));
    EXPECT_EQ(plain.model.weights, accelerated.model.weights);
    EXPECT_TRUE(std::ranges::equal(plain.y.values(), accelerated.y.values()));
    EXPECT_NE(plain.model.theta, accelerated.model.theta);
}

TEST(RandomCase, NoTwoLayersAreEqualAndAllAreOneBit) {
    const RecoveryCase c = small_case(Update::plain());
    for (std::size_t k = 1; k < c.model.weights.size(); ++k)
        EXPECT_NE(c.model.weights[k], c.model.weights[k - 1]);
    const float scale = std::abs(c.model.weights[0][0]);
    for (const auto& layer : c.model.weights)
        for (const float w : layer) ASSERT_EQ(std::abs(w), scale);
}

TEST(RandomCase, EveryLayerLeavesTheDensityThatWasAskedFor) {
    ThreadPool pool(1);
    for (const Update& update : {Update::plain(), Update::accelerated()})
        for (const double density : {0.05, 0.1, 0.4}) {
            const RecoveryCase c = small_case(update, density);
            EXPECT_NEAR(c.density, density, 0.02);
            std::vector<Batch> layers;
            recover_coefficients(c.model, c.y, pool, &layers);
            // Thresholds are set on these very signals: only entries at the threshold may differ.
            for (const Batch& x : layers) EXPECT_NEAR(nonzero_share(x), density, 0.005);
        }
}

TEST(RandomCase, StructuresOtherThanDenseTakeThePlainUpdate) {
    ThreadPool pool(1);
    const Structure repeated = Structure::repeated(8, 16, 3);
    EXPECT_NEAR(random_case(repeated, 3, Update::plain(), 0.1, kRows, pool).density, 0.1, 0.02);
    EXPECT_THROW(random_case(repeated, 3, Update::accelerated(), 0.1, kRows, pool), Error);
}

TEST(RecoveryPeers, ComputeWhatWeComputeOnVectorsOfAnyLength) {
    ThreadPool pool(1);
    for (const auto& [m, n] : {std::pair{7, 9}, {50, 100}, {70, 33}})
        for (const Update& update : {Update::plain(), Update::accelerated()}) {
            const RecoveryCase c = random_case(
                Structure::dense(static_cast<std::size_t>(m), static_cast<std::size_t>(n)), 3,
                update, 0.2, 40, pool);
            const Batch ours = OurRecovery(c.model, "auto").recover(c.y, pool);
            for (const std::size_t rows : {std::size_t{1}, c.y.rows()}) {
                RecoveryPeers peers(c, rows, 1, ours);
                ASSERT_EQ(peers.entries().size(), 3U);
                for (const auto& entry : peers.entries())
                    EXPECT_LT(entry.error, 1e-5) << entry.name << " " << m << "x" << n;
            }
        }
}

TEST(RecoveryPeers, ComputeTiedNetworksAndLearnedShrinksToo) {
    ThreadPool pool(1);
    for (const auto activation : {Activation::soft, Activation::piecewise}) {
        const RandomSpec spec{Structure::dense(50, 90),     3,
                              Update::accelerated(),        WeightKind::tied,
                              OperatorEnsemble::rademacher, activation};
        const RecoveryCase c = random_case(spec, 0.2, kRows, pool);
        EXPECT_NEAR(c.density, 0.2, 0.02);
        ASSERT_TRUE(OurRecovery(c.model, "auto").packed());
        const Batch ours = OurRecovery(c.model, "auto").recover(c.y, pool);
        for (const std::size_t rows : {std::size_t{1}, c.y.rows()}) {
            RecoveryPeers peers(c, rows, 1, ours);
            ASSERT_EQ(peers.entries().size(), 2U);
            for (const auto& entry : peers.entries()) EXPECT_LT(entry.error, 1e-5) << entry.name;
        }
        EXPECT_THROW(write_case("unused", c, ours), Error);
    }
}

TEST(RecoveryPeers, AreNoneWhereTheyCannotRunTheNetwork) {
    ThreadPool pool(1);
    const RecoveryCase c =
        random_case(Structure::repeated(8, 16, 2), 2, Update::plain(), 0.2, kRows, pool);
    const Batch ours = OurRecovery(c.model, "auto").recover(c.y, pool);
    EXPECT_FALSE(peers_can_run(c.model));
    EXPECT_TRUE(RecoveryPeers(c, 1, 1, ours).entries().empty());
    EXPECT_THROW(write_case("unused", c, ours), Error);
    // The floating-point network runs all that can be packed.
    const Batch same = FloatRecovery(c.model).recover(c.y, pool);
    EXPECT_LT(relative_difference(ours.values(), same.values()), 1e-5);
}

TEST(OurRecovery, OneSignalAtATimeAndABatchAgree) {
    ThreadPool pool(2);
    const RecoveryCase c = small_case(Update::accelerated());
    const OurRecovery ours(c.model, "auto");
    const Batch batch = ours.recover(c.y, pool);
    Batch into(batch.rows(), batch.cols());
    ours.recover_into(c.y, into, pool);
    EXPECT_TRUE(std::ranges::equal(batch.values(), into.values()));
    EXPECT_NO_THROW(ours.single_call(c.y)(kRows - 1));
}

TEST(OurRecovery, RefusesAKernelForANetworkWithoutPackedBits) {
    RecoveryCase c = small_case(Update::plain());
    c.model.spec.weights = WeightKind::real;
    EXPECT_FALSE(OurRecovery(c.model, "auto").packed());
    EXPECT_THROW(OurRecovery(c.model, "SCALAR"), Error);
}

TEST(RelativeDifference, IsTheNormOfTheDifferenceOverTheNorm) {
    const std::vector<float> a{3, 4}, b{3, 4.5};
    EXPECT_DOUBLE_EQ(relative_difference(a, b), 0.1);
    EXPECT_EQ(relative_difference(a, a), 0);
    EXPECT_THROW(relative_difference(a, std::span(b).first(1)), Error);
}

}  // namespace
}  // namespace pibinn::bench
