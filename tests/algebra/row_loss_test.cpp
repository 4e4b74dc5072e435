#include "algebra/cpu/row_loss.hpp"

#include <gtest/gtest.h>

#include "pibinn/random.hpp"

namespace pibinn {
namespace {

TEST(RowLoss, GradientsAreThoseOfFiniteDifferences) {
    Stream stream(4, Purpose::tests);
    Batch x(3, 5), target(3, 5), gradient(3, 5), unused(3, 5);
    for (float& v : x.values()) v = static_cast<float>(stream.normal());
    for (float& v : target.values()) v = static_cast<float>(stream.normal());
    const std::vector<float> weights{0.5F, 2.0F, 1.0F};
    for (const RowLoss kind : {RowLoss::squared, RowLoss::norm, RowLoss::tempered}) {
        cpu::row_loss(kind, x, target, weights, 1, gradient);
        for (std::size_t i = 0; i < x.size(); ++i) {
            constexpr float step = 1e-2F;
            Batch up = x, down = x;
            up.values()[i] += step;
            down.values()[i] -= step;
            const double slope = (cpu::row_loss(kind, up, target, weights, 1, unused) -
                                  cpu::row_loss(kind, down, target, weights, 1, unused)) /
                                 (2 * step);
            EXPECT_NEAR(gradient.values()[i], slope, 2e-3) << static_cast<int>(kind) << ' ' << i;
        }
    }
}

TEST(RowLoss, AnErrorOfZeroHasNoGradient) {
    const Batch x(2, 3);
    Batch gradient(2, 3);
    for (const RowLoss kind : {RowLoss::squared, RowLoss::norm, RowLoss::tempered}) {
        EXPECT_EQ(cpu::row_loss(kind, x, x, std::vector<float>{1, 1}, 1, gradient), 0);
        for (const float g : gradient.values()) EXPECT_EQ(g, 0.0F);
    }
}

}  // namespace
}  // namespace pibinn
