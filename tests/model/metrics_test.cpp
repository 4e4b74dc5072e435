#include "pibinn/metrics.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "model/metrics_sum.hpp"
#include "pibinn/error.hpp"

namespace pibinn {
namespace {

Batch batch(std::initializer_list<std::initializer_list<float>> rows) {
    Batch b(rows.size(), rows.begin()->size());
    std::size_t i = 0;
    for (const auto& row : rows) std::copy(row.begin(), row.end(), b.row(i++).begin());
    return b;
}

TEST(Metrics, AreWhatTheirDefinitionsSay) {
    const Batch truth = batch({{3, 0, 4}, {0, 1, 0}, {2, 0, 0}});
    const Batch guess = batch({{3, 0, 3}, {0.5F, 1, 0}, {1, 0, 0}});
    const Metrics m = measure(truth, guess);
    EXPECT_NEAR(m.nmse_db, 10 * std::log10((1.0 / 25 + 0.25 + 0.25) / 3), 1e-9);
    EXPECT_NEAR(m.energy_nmse_db, 10 * std::log10((1 + 0.25 + 1) / 30.0), 1e-9);
    EXPECT_NEAR(m.median_nmse_db, 10 * std::log10(0.25), 1e-9);
    EXPECT_NEAR(m.support_f1, 2.0 * 4 / (2.0 * 4 + 1), 1e-9);
    EXPECT_EQ(m.signals, 3u);
    EXPECT_EQ(m.skipped_zero_signals, 0u);
}

TEST(Metrics, SkipAndCountZeroSignals) {
    const Metrics m = measure(batch({{0, 0}, {1, 0}}), batch({{1, 0}, {0, 0}}));
    EXPECT_EQ(m.skipped_zero_signals, 1u);
    EXPECT_NEAR(m.nmse_db, 0.0, 1e-9);
    EXPECT_NEAR(m.energy_nmse_db, 10 * std::log10(2.0), 1e-9);
}

TEST(Metrics, StayFiniteWhenRecoveryIsExactOrEmpty) {
    const Batch x = batch({{1, 2}});
    EXPECT_DOUBLE_EQ(measure(x, x).nmse_db, -400.0);
    EXPECT_EQ(measure(Batch(0, 3), Batch(0, 3)).signals, 0u);
}

TEST(Metrics, RefuseShapesThatDiffer) { EXPECT_THROW(measure(Batch(2, 3), Batch(2, 4)), Error); }

TEST(CountExact, NeedsSupportAndValues) {
    const Batch truth = batch({{1, 0}, {1, 0}, {1, 0}});
    const Batch guess = batch({{1.0005F, 0}, {1.002F, 0}, {1, 1e-9F}});
    EXPECT_EQ(count_exact(truth, guess, 1e-3), 1u);
}

TEST(MetricsSum, OfPartsIsThatOfTheWholeToTheBit) {
    Batch truth(23, 7), estimate(23, 7);
    std::uint32_t state = 1;
    const auto next = [&] { return state = state * 1664525U + 1013904223U; };
    for (std::size_t i = 0; i < truth.size(); ++i) {
        truth.data()[i] = next() % 3 == 0 ? static_cast<float>(next()) * 1e-9F : 0.0F;
        estimate.data()[i] = truth.data()[i] + (next() % 4 == 0 ? 0.1F : 0.0F);
    }
    for (std::size_t j = 0; j < 7; ++j) truth(5, j) = 0;
    const Metrics whole = measure(truth, estimate);
    EXPECT_GE(whole.skipped_zero_signals, 1u);
    for (const std::size_t part : {1, 4, 23}) {
        MetricsSum sum;
        for (std::size_t i = 0; i < 23; i += part) {
            const std::size_t end = std::min<std::size_t>(23, i + part);
            sum.add(truth.view().row_range(i, end), estimate.view().row_range(i, end));
        }
        const Metrics parts = sum.result();
        EXPECT_EQ(parts.nmse_db, whole.nmse_db);
        EXPECT_EQ(parts.energy_nmse_db, whole.energy_nmse_db);
        EXPECT_EQ(parts.median_nmse_db, whole.median_nmse_db);
        EXPECT_EQ(parts.support_f1, whole.support_f1);
        EXPECT_EQ(parts.signals, 23u);
        EXPECT_EQ(parts.skipped_zero_signals, whole.skipped_zero_signals);
    }
}

}  // namespace
}  // namespace pibinn
