#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/cases.hpp"
#include "model/network.hpp"

namespace pibinn {
namespace {

using testing::as_double;
using testing::some_parameters;

constexpr double kRamp = 0.4;

/// What passes a threshold: z, or less than it by a share of tau.
double passing(double z, double tau, double shrink) { return z - std::copysign(shrink * tau, z); }

double ramp(double z, double tau, double shrink) {
    const double width = kRamp * (1 - shrink);
    const double from_least = std::abs(z) / tau - 1 + width;
    const double s = width > 0 ? from_least / (2 * width) : (from_least < 0 ? 0.0 : 1.0);
    return passing(z, tau, shrink) * std::clamp(s, 0.0, 1.0);
}

/// What a layer was given in the exact pass.
struct Seen {
    std::vector<double> z;
    double tau = 0, count = 0;
};

/// One signal through hard layers in double. Once the tape is written, a layer leaves its exact x
/// moved by what its ramp moved: the function whose derivative backward is to give.
std::vector<double> solve(const NetworkSpec& spec, const Operator& op,
                          const ParameterLayout& layout, const std::vector<double>& values,
                          std::span<const float> y, double shrink, std::vector<Seen>& tape) {
    const bool first_time = tape.empty();
    const auto scalar = [&](const char* name, std::size_t k) {
        for (const ParameterSlice& s : layout.slices())
            if (s.name == fmt::format("{}.{}", name, k)) return values[s.offset];
        return 0.0;
    };
    const auto step = [&](std::size_t k) { return spec.update.step ? scalar("step", k) : 1.0; };
    const std::size_t m = op.rows(), n = op.cols();
    const auto a = op.to_dense();
    std::vector<double> x1(n), x2(n), before(m);
    double count = 0;
    for (std::size_t k = 1; k <= spec.layers; ++k) {
        const double* w = &values[layout.slices()[k - 1].offset];  // column by column
        std::vector<double> v(n), r(m), x(n);
        for (std::size_t j = 0; j < n; ++j) v[j] = x1[j] + scalar("beta", k) * (x1[j] - x2[j]);
        double tau = scalar("theta", k), mean = 0;
        for (std::size_t i = 0; i < m; ++i) {
            r[i] = scalar("omega", k) * count / static_cast<double>(m) * before[i] - y[i];
            for (std::size_t j = 0; j < n; ++j) r[i] += a(i, j) * v[j];
            mean += std::abs(r[i]) / static_cast<double>(m);
        }
        if (spec.update.residual_threshold) tau *= mean;
        if (first_time) tape.push_back({std::vector<double>(n), tau, 0});
        Seen& seen = tape[k - 1];
        for (std::size_t j = 0; j < n; ++j) {
            double z = v[j];
            for (std::size_t i = 0; i < m; ++i) z -= step(k) * w[j * m + i] * r[i];
            if (first_time) seen.z[j] = z;
            const double exact =
                std::abs(seen.z[j]) >= seen.tau ? passing(seen.z[j], seen.tau, shrink) : 0;
            if (first_time) seen.count += exact != 0;
            x[j] = exact + ramp(z, tau, shrink) - ramp(seen.z[j], seen.tau, shrink);
        }
        count = seen.count;
        x2 = x1;
        x1 = x;
        before = r;
    }
    return x1;
}

class Ramp : public ::testing::TestWithParam<std::tuple<bool, double>> {};

TEST_P(Ramp, GradientsAreThoseOfTheSmoothedThreshold) {
    const auto [accelerated, shrink] = GetParam();
    ThreadPool pool(1);
    NetworkSpec spec;
    spec.layers = 4;
    spec.activation = Activation::hard;
    spec.weights = WeightKind::real;
    spec.update = accelerated ? Update::accelerated() : Update::plain();
    const Operator op = Operator::random(Structure::dense(7, 19), OperatorEnsemble::gaussian, 3);
    const auto backend = make_cpu_backend();
    const auto network = make_network(spec, op, *backend);
    const ParameterStore p = some_parameters(*network, op, *backend, 1);
    const std::size_t rows = 20;
    const Batch x = draw_signals(SparsePrior{0.3, {}}, rows, op.cols(), 5, Purpose::tests, pool);
    const Batch y = op.apply(x, pool);
    const std::vector<float> weights(rows, 1.0F);
    ParameterStore jump(network->layout()), smooth(network->layout());
    network->set_ramp(0, shrink);
    const double loss = network->gradient(p, y, x, RowLoss::squared, weights, jump, pool);
    network->set_ramp(kRamp, shrink);
    EXPECT_EQ(network->gradient(p, y, x, RowLoss::squared, weights, smooth, pool), loss)
        << "forward is the jump, whatever backward does";

    std::vector<double> values = as_double(p.values());
    std::vector<std::vector<Seen>> tapes(rows);
    const auto measured = [&] {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            const auto out =
                solve(spec, op, *network->layout(), values, y.row(i), shrink, tapes[i]);
            for (std::size_t j = 0; j < out.size(); ++j) sum += std::pow(out[j] - x(i, j), 2);
        }
        return sum;
    };
    EXPECT_NEAR(measured(), loss, 1e-4 * loss);
    for (const ParameterSlice& slice : network->layout()->slices()) {
        double scale = 1e-3;
        for (std::size_t i = 0; i < slice.size; ++i)
            scale = std::max(scale, std::abs(double{smooth.values()[slice.offset + i]}));
        for (std::size_t i = slice.offset; i < slice.offset + slice.size; i += 11) {
            const double kept = values[i], h = 1e-6;
            values[i] = kept + h;
            const double up = measured();
            values[i] = kept - h;
            const double down = measured();
            values[i] = kept;
            EXPECT_NEAR(smooth.values()[i], (up - down) / (2 * h), 5e-4 * scale) << slice.name;
        }
    }
    for (std::size_t k = 0; k < spec.layers; ++k) {
        EXPECT_EQ(jump.theta()[k], 0);
        EXPECT_NE(smooth.theta()[k], 0);
    }
}

INSTANTIATE_TEST_SUITE_P(PlainAndAccelerated, Ramp,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(0.0, 0.6, 0.95, 1.0)));

}  // namespace
}  // namespace pibinn
