#include "pibinn/real_problem.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "problem/energy.hpp"

namespace pibinn {
namespace {

Batch random_rows(std::size_t rows, std::size_t cols, double mean, double deviation,
                  std::uint64_t index) {
    Batch batch(rows, cols);
    Stream stream(5, Purpose::tests, index);
    for (float& v : batch.values()) v = static_cast<float>(mean + deviation * stream.normal());
    return batch;
}

RealSignals some_signals() {
    RealSignals signals;
    signals.train = random_rows(300, 16, 5, 2, 0);
    signals.test = random_rows(80, 16, 5, 2, 1);
    signals.where = "x.npy";
    return signals;
}

SignalDomain domain_of(Normalize normalize) {
    SignalDomain domain;
    domain.basis = Basis::named(BasisKind::dct, 16);
    domain.normalize = normalize;
    return domain;
}

TEST(SignalDomain, EveryNormalisationComesBack) {
    ThreadPool pool(1);
    const RealSignals signals = some_signals();
    for (const Normalize kind :
         {Normalize::none, Normalize::global, Normalize::patch, Normalize::zscore}) {
        SignalDomain domain = domain_of(kind);
        domain.fit(signals.train.to_float32(), signals.where);
        std::vector<double> means;
        const Batch c = domain.to_coefficients(signals.test.to_float32(), pool, &means);
        const Batch back = domain.to_signals(c, pool, &means);
        for (std::size_t i = 0; i < back.size(); ++i)
            ASSERT_NEAR(back.data()[i], signals.test(i / 16, i % 16), 1e-4) << to_string(kind);
        EXPECT_EQ(domain.mean != 0, kind == Normalize::global || kind == Normalize::zscore);
        EXPECT_EQ(domain.deviation != 1, kind == Normalize::zscore);
        EXPECT_EQ(means[0] != 0, kind == Normalize::patch);
    }
}

TEST(SignalDomain, ZscoreGivesUnitDeviationAndPatchNoMean) {
    ThreadPool pool(1);
    const RealSignals signals = some_signals();
    SignalDomain zscore = domain_of(Normalize::zscore);
    zscore.fit(signals.train.to_float32(), signals.where);
    EXPECT_NEAR(zscore.mean, 5, 0.1);
    EXPECT_NEAR(zscore.deviation, 2, 0.1);
    const Batch c = zscore.to_coefficients(signals.train.to_float32(), pool);
    EXPECT_NEAR(energy(c.values()) / static_cast<double>(c.size()), 1, 1e-5);
    const Batch p = domain_of(Normalize::patch).to_coefficients(signals.train.to_float32(), pool);
    for (std::size_t i = 0; i < p.rows(); ++i) ASSERT_NEAR(p(i, 0), 0, 1e-4);
    Batch alike(300, 16);
    for (const float value : {3.0F, 3e-20F, 0.0F}) {
        std::fill(alike.values().begin(), alike.values().end(), value);
        EXPECT_THROW(zscore.fit(alike, "x.npy"), Error) << value;
    }
    // Volts where others have microvolts are no reason to refuse.
    EXPECT_NO_THROW(zscore.fit(random_rows(300, 16, 0, 1e-15, 0), "x.npy"));
}

TEST(Disturbance, HasTheRatioThatWasAskedFor) {
    ThreadPool pool(2);
    const Batch x = random_rows(500, 32, 0, 3, 2);
    Disturbance disturbance;
    disturbance.artefacts = random_rows(10, 32, 1, 0.2, 3);
    disturbance.least_snr_db = 5;
    disturbance.most_snr_db = 20;
    Batch disturbed = x;
    disturb(disturbance, disturbed, 7, Purpose::train_disturbance, 0, pool);
    double least = 100, most = -100;
    for (std::size_t i = 0; i < x.rows(); ++i) {
        double added = 0;
        for (std::size_t j = 0; j < x.cols(); ++j) added += std::pow(disturbed(i, j) - x(i, j), 2);
        const double snr_db = 10 * std::log10(energy(x.row(i)) / added);
        least = std::min(least, snr_db);
        most = std::max(most, snr_db);
    }
    EXPECT_GT(least, 4.99);
    EXPECT_LT(least, 5.5);
    EXPECT_GT(most, 19.5);
    EXPECT_LT(most, 20.01);
}

TEST(Disturbance, LeavesZeroSignalsAndSilentArtefactsNumbers) {
    ThreadPool pool(1);
    Batch x(2, 4);
    x(1, 0) = 1;
    Disturbance disturbance;
    disturbance.artefacts = Batch(1, 4);
    const Batch before = x;
    disturb(disturbance, x, 1, Purpose::train_disturbance, 0, pool);
    EXPECT_EQ(x, before);
}

TEST(Disturbance, OfARowFollowsFromItsIndexAlone) {
    ThreadPool pool(2);
    const Batch x = random_rows(100, 8, 0, 1, 4);
    Disturbance disturbance;
    disturbance.noise_std = 0.5;
    Batch all = x;
    disturb(disturbance, all, 9, Purpose::test_disturbance, 0, pool);
    Batch part(10, 8);
    std::copy_n(x.data() + 70 * 8, 80, part.data());
    disturb(disturbance, part, 9, Purpose::test_disturbance, 70, pool);
    for (std::size_t i = 0; i < 80; ++i) ASSERT_EQ(part.data()[i], all.data()[70 * 8 + i]);
}

TEST(RealProblem, MeasuresTheDisturbedSignalAndKeepsTheCleanTarget) {
    ThreadPool pool(2);
    RealSignals signals = some_signals();
    signals.noise_std = 0.4;
    const Problem problem =
        make_real(signals, domain_of(Normalize::zscore), SensingSpec{}, 3, pool);
    EXPECT_EQ(problem.op.rows(), 8u);
    EXPECT_EQ(problem.train.x, problem.domain.to_coefficients(signals.train.to_float32(), pool));
    Batch disturbed = problem.train.x;
    disturb(problem.train_disturbance, disturbed, 3, Purpose::train_disturbance, 0, pool);
    EXPECT_EQ(problem.train.y, problem.op.apply(disturbed, pool));
    double added = 0;
    for (std::size_t i = 0; i < disturbed.size(); ++i)
        added += std::pow(disturbed.data()[i] - problem.train.x.data()[i], 2);
    // 0.4 on signals of deviation 2 is 0.2 on normalised ones.
    EXPECT_NEAR(std::sqrt(added / static_cast<double>(disturbed.size())), 0.2, 0.01);
}

TEST(RealProblem, NoiseComesInWhereItIsAskedFor) {
    ThreadPool pool(1);
    RealSignals signals = some_signals();
    signals.noise_std = 0.4;
    const auto made = [&](NoisePlace place) {
        signals.noise_place = place;
        return make_real(signals, domain_of(Normalize::zscore), SensingSpec{}, 3, pool);
    };
    const double deviation = made(NoisePlace::signals).domain.deviation;
    const Problem early = made(NoisePlace::signals), middle = made(NoisePlace::normalised),
                  late = made(NoisePlace::measurements);
    EXPECT_DOUBLE_EQ(early.train_disturbance.noise_std, 0.4 / deviation);
    EXPECT_DOUBLE_EQ(early.domain.noise_std, 0.4);
    EXPECT_EQ(middle.test_disturbance.noise_std, 0.4);
    EXPECT_DOUBLE_EQ(middle.domain.noise_std, 0.4 * deviation);
    EXPECT_TRUE(late.train_disturbance.none());
    EXPECT_EQ(late.noise_std, 0.4);
    EXPECT_EQ(late.domain.noise_std, 0);
    EXPECT_NE(late.train.y, late.op.apply(late.train.x, pool));
}

TEST(RealProblem, AnOperatorOnSignalsMeasuresTheSameAsOnePutBeforeTheBasis) {
    ThreadPool pool(1);
    const RealSignals signals = some_signals();
    SensingSpec sensing;
    sensing.given = Operator::from_dense(random_rows(6, 16, 0, 1, 6));
    sensing.on_signals = true;
    const Problem problem = make_real(signals, domain_of(Normalize::none), sensing, 3, pool);
    const Batch y = sensing.given->apply(signals.test.to_float32(), pool);
    for (std::size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(problem.test.y.data()[i], y.data()[i], 1e-3);
}

TEST(RealProblem, BlocksStayBlocksOnCoefficients) {
    ThreadPool pool(1);
    SensingSpec sensing;
    sensing.structure = StructureKind::blocks;
    const RealSignals signals = some_signals();
    const Problem problem = make_real(signals, domain_of(Normalize::none), sensing, 3, pool);
    EXPECT_EQ(problem.op.structure().kind(), StructureKind::blocks);
    EXPECT_EQ(problem.op.structure().links(), 2u * 4 * 8);
    sensing.on_signals = true;
    EXPECT_THROW(make_real(signals, domain_of(Normalize::none), sensing, 3, pool), Error);
    sensing.on_signals = false;
    sensing.blocks = 3;
    EXPECT_THROW(make_real(signals, domain_of(Normalize::none), sensing, 3, pool), Error);
}

TEST(RealProblem, WhatDoesNotFitIsRefused) {
    ThreadPool pool(1);
    RealSignals signals = some_signals();
    signals.train_artefacts = random_rows(3, 12, 0, 1, 7);
    EXPECT_THROW(make_real(signals, domain_of(Normalize::none), {}, 3, pool), Error);
    SensingSpec sensing;
    sensing.given = Operator::from_dense(random_rows(6, 15, 0, 1, 6));
    EXPECT_THROW(make_real(some_signals(), domain_of(Normalize::none), sensing, 3, pool), Error);
}

}  // namespace
}  // namespace pibinn
