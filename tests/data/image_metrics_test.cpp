#include "pibinn/image_metrics.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

/// A smooth picture, made of integers so that any other program can make it again.
Image waves(std::size_t rows, std::size_t cols, std::size_t step) {
    Image image(rows, cols);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j)
            image(i, j) = static_cast<float>((i * i + step * i * j + 3 * j) % 97) / 96;
    return image;
}

TEST(Psnr, IsThatOfTheMeanSquaredError) {
    Image a(4, 5), b(4, 5);
    for (float& v : b.values()) v = 0.1F;
    EXPECT_NEAR(psnr_db(a, b), 20, 1e-6);
    b(0, 0) = 0;
    EXPECT_NEAR(psnr_db(a, b), -10 * std::log10(0.01 * 19 / 20), 1e-6);
    EXPECT_EQ(psnr_db(a, a), 400);
    EXPECT_THROW(psnr_db(a, Image(5, 4)), Error);
}

TEST(Ssim, OfFlatPicturesIsTheirLuminanceTerm) {
    // No variance: only (2 a b + C1) / (a a + b b + C1) is left, C1 = 1e-4.
    Image a(11, 11), b(11, 11);
    for (float& v : a.values()) v = 0.5F;
    for (float& v : b.values()) v = 0.25F;
    EXPECT_NEAR(ssim(a, b), (2 * 0.125 + 1e-4) / (0.25 + 0.0625 + 1e-4), 1e-6);
}

TEST(Ssim, AgreesWithTheDefinitionWindowByWindow) {
    const Image a = waves(14, 17, 2), b = waves(14, 17, 5);
    double weights[11][11], norm = 0;
    for (int i = 0; i < 11; ++i)
        for (int j = 0; j < 11; ++j)
            norm += weights[i][j] = std::exp(-((i - 5) * (i - 5) + (j - 5) * (j - 5)) / 4.5);
    double sum = 0;
    for (std::size_t top = 0; top < 4; ++top)
        for (std::size_t left = 0; left < 7; ++left) {
            double ma = 0, mb = 0, va = 0, vb = 0, cov = 0;
            const auto each = [&](auto&& visit) {
                for (std::size_t i = 0; i < 11; ++i)
                    for (std::size_t j = 0; j < 11; ++j)
                        visit(weights[i][j] / norm, a(top + i, left + j), b(top + i, left + j));
            };
            each([&](double w, double x, double y) { ma += w * x, mb += w * y; });
            each([&](double w, double x, double y) {
                va += w * (x - ma) * (x - ma);
                vb += w * (y - mb) * (y - mb);
                cov += w * (x - ma) * (y - mb);
            });
            sum += (2 * ma * mb + 1e-4) * (2 * cov + 9e-4) /
                   ((ma * ma + mb * mb + 1e-4) * (va + vb + 9e-4));
        }
    EXPECT_NEAR(ssim(a, b), sum / 28, 1e-12);
    EXPECT_NEAR(ssim(a, a), 1, 1e-12);
    EXPECT_LT(ssim(a, b), 0.9);
    EXPECT_THROW(ssim(Image(10, 20), Image(10, 20)), Error);
}

}  // namespace
}  // namespace pibinn
