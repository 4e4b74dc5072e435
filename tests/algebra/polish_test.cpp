#include "algebra/polish.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "pibinn/operator.hpp"
#include "pibinn/random.hpp"

namespace pibinn {
namespace {

/// A sparse signal, its measurement, and what a network may have found of it.
struct Signal {
    explicit Signal(const Operator& op, std::initializer_list<std::size_t> support)
        : truth(op.cols()), found(op.cols()), y(op.rows()) {
        Stream stream(3, Purpose::tests);
        const auto a = op.to_dense();
        for (const std::size_t j : support) {
            truth[j] = static_cast<float>(stream.normal() + 2);
            found[j] = truth[j] - 0.3F;  // what a soft threshold takes off
            for (std::size_t i = 0; i < op.rows(); ++i) y[i] += a(i, j) * truth[j];
        }
    }
    double error() const {
        double sum = 0;
        for (std::size_t j = 0; j < truth.size(); ++j)
            sum += std::pow(double{found[j]} - truth[j], 2);
        return std::sqrt(sum);
    }
    std::vector<float> truth, found, y;
};

Structure mask_of(std::size_t m, std::size_t n) {
    std::vector<std::uint32_t> offsets{0}, rows;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < m; ++i)
            if ((i + j) % 2 == 0) rows.push_back(static_cast<std::uint32_t>(i));
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    return Structure::mask(m, n, offsets, rows);
}

TEST(Polish, RecoversASignalWhoseSupportWasFound) {
    for (const Structure& s : {Structure::dense(17, 30), mask_of(17, 30)}) {
        const Operator op = Operator::random(s, OperatorEnsemble::gaussian, 1);
        Signal signal(op, {2, 7, 11, 29});
        Polish polish(s.parts()[0], op.values());
        polish.run(4, 0.01F, signal.y, signal.found);
        EXPECT_LT(signal.error(), 1e-4) << to_string(s.kind());
    }
}

TEST(Polish, StepsAreThoseOfConjugateGradients) {
    const Operator op = Operator::random(Structure::dense(9, 12), OperatorEnsemble::gaussian, 2);
    Signal signal(op, {1, 4, 8});
    Eigen::MatrixXd a(9, 3);
    const auto dense = op.to_dense();
    const std::size_t columns[] = {1, 4, 8};
    Eigen::VectorXd x(3), y(9);
    for (Eigen::Index e = 0; e < 3; ++e) {
        x[e] = signal.found[columns[e]];
        for (Eigen::Index i = 0; i < 9; ++i)
            a(i, e) = dense(static_cast<std::size_t>(i), columns[e]);
    }
    for (Eigen::Index i = 0; i < 9; ++i) y[i] = signal.y[static_cast<std::size_t>(i)];
    // The minimiser over the Krylov space of two gradients.
    const Eigen::MatrixXd h = a.transpose() * a;
    const Eigen::VectorXd g = a.transpose() * (y - a * x);
    Eigen::MatrixXd krylov(3, 2);
    krylov << g, h * g;
    const Eigen::VectorXd c = (a * krylov).colPivHouseholderQr().solve(y - a * x);
    Polish(op.structure().parts()[0], op.values()).run(2, 0, signal.y, signal.found);
    for (Eigen::Index e = 0; e < 3; ++e)
        EXPECT_NEAR(signal.found[columns[e]], (x + krylov * c)[e], 1e-5);
}

TEST(Polish, UnitsOfPowersOfTwoChangeNoDigit) {
    const Operator op = Operator::random(Structure::dense(17, 30), OperatorEnsemble::gaussian, 1);
    const auto polished = [&](float x_unit, float a_unit) {
        Signal signal(op, {2, 7, 11, 29});
        std::vector<float> values(op.values().begin(), op.values().end());
        for (float& v : values) v *= a_unit;
        for (float& v : signal.y) v *= a_unit * x_unit;
        for (float& v : signal.found) v *= x_unit;
        Polish(op.structure().parts()[0], values).run(4, 0, signal.y, signal.found);
        for (float& v : signal.found) v /= x_unit;
        EXPECT_LT(signal.error(), 1e-4) << x_unit << ' ' << a_unit;
        return signal.found;
    };
    const std::vector<float> usual = polished(1, 1);
    for (const float x_unit : {0x1p-40F, 0x1p-20F, 0x1p30F})
        for (const float a_unit : {0x1p-40F, 1.0F, 0x1p40F})
            EXPECT_EQ(polished(x_unit, a_unit), usual);
}

TEST(Polish, StopsWhereRoundingIsAllThatIsLeft) {
    // More steps than entries, measurements that are mostly noise, and a start near the end: what
    // is left of the gradient is rounding, of which conjugate gradients make steps of any length.
    const Operator op = Operator::random(Structure::dense(25, 50), OperatorEnsemble::gaussian, 1);
    const auto a = op.to_dense();
    Polish polish(op.structure().parts()[0], op.values());
    Stream stream(4, Purpose::tests);
    for (int draw = 0; draw < 20000; ++draw) {
        const std::size_t j = stream.below(50);
        std::vector<float> y(25), x(50);
        double ay = 0, aa = 0, yy = 0;
        for (std::size_t i = 0; i < 25; ++i) {
            y[i] = static_cast<float>(stream.normal());
            ay += double{a(i, j)} * y[i];
            aa += double{a(i, j)} * a(i, j);
            yy += double{y[i]} * y[i];
        }
        x[j] = static_cast<float>(ay / aa + 1e-4 * stream.normal());
        polish.run(6, 0, y, x);
        ASSERT_NEAR(x[j], ay / aa, 1e-5 * std::sqrt(yy / aa)) << draw;
    }
}

TEST(Polish, LeavesOutWhatTheCutLeavesOut) {
    const Operator op = Operator::random(Structure::dense(17, 30), OperatorEnsemble::gaussian, 1);
    Signal signal(op, {2, 7, 11, 29});
    signal.found[20] = 0.02F;  // no entry of the signal
    Polish polish(op.structure().parts()[0], op.values());
    std::vector<float> all = signal.found;
    polish.run(6, 0, signal.y, all);
    EXPECT_NE(all[20], 0.0F);
    polish.run(6, 0.05F, signal.y, signal.found);
    EXPECT_EQ(signal.found[20], 0.0F);
    EXPECT_LT(signal.error(), 1e-4);
}

TEST(Polish, LeavesSignalsAloneThatItCannotImprove) {
    const Operator op = Operator::random(Structure::dense(2, 5), OperatorEnsemble::gaussian, 1);
    Polish polish(op.structure().parts()[0], op.values());
    const std::vector<float> y{1, -1};
    std::vector<float> zero(5), dense{1, 2, 3, 4, 5};
    polish.run(3, 0, y, zero);
    EXPECT_EQ(zero, std::vector<float>(5)) << "an empty support";
    polish.run(3, 0, y, dense);
    EXPECT_EQ(dense, (std::vector<float>{1, 2, 3, 4, 5})) << "more entries than measurements";
    std::vector<float> one{0, 2, 0, 0, 0};
    polish.run(0, 0, y, one);
    EXPECT_EQ(one[1], 2.0F) << "no steps";
    std::vector<float> overflowed{0, std::numeric_limits<float>::quiet_NaN(), 0, 1, 0};
    polish.run(3, 0, y, overflowed);
    EXPECT_TRUE(std::isnan(overflowed[1])) << "what is no number must not become a zero";
    const std::vector<float> nothing(2);
    polish.run(3, 0, nothing, one);
    for (const float v : one) EXPECT_TRUE(std::isfinite(v));
}

}  // namespace
}  // namespace pibinn
