#include "pibinn/image_metrics.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kWindow = 11;
constexpr double kDeviation = 1.5;
constexpr double kC1 = 0.01 * 0.01;
constexpr double kC2 = 0.03 * 0.03;
constexpr double kHighestPsnr = 400;

std::array<double, kWindow> window() {
    std::array<double, kWindow> w{};
    double sum = 0;
    for (std::size_t i = 0; i < kWindow; ++i) {
        const double at = static_cast<double>(i) - (kWindow - 1) / 2.0;
        w[i] = std::exp(-at * at / (2 * kDeviation * kDeviation));
        sum += w[i];
    }
    for (double& v : w) v /= sum;
    return w;
}

void require_same_size(const Image& truth, const Image& estimate) {
    if (truth.rows() != estimate.rows() || truth.cols() != estimate.cols() || truth.size() == 0)
        fail_input(fmt::format("pictures of {} x {} and {} x {} pixels cannot be compared",
                               truth.cols(), truth.rows(), estimate.cols(), estimate.rows()),
                   "give two of one size");
}

/// Of the weighted means of a, b, aa, bb and ab over one window.
double similarity(const std::array<double, 5>& mean) {
    const auto [a, b, aa, bb, ab] = mean;
    return (2 * a * b + kC1) * (2 * (ab - a * b) + kC2) /
           ((a * a + b * b + kC1) * (aa - a * a + bb - b * b + kC2));
}

}  // namespace

double psnr_db(const Image& truth, const Image& estimate) {
    require_same_size(truth, estimate);
    double sum = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const double d = double{truth.data()[i]} - estimate.data()[i];
        sum += d * d;
    }
    if (sum == 0) return kHighestPsnr;
    return -10 * std::log10(sum / static_cast<double>(truth.size()));
}

double ssim(const Image& truth, const Image& estimate) {
    require_same_size(truth, estimate);
    const std::size_t rows = truth.rows(), cols = truth.cols();
    if (rows < kWindow || cols < kWindow)
        fail_input(fmt::format("a picture of {} x {} pixels is smaller than the window of SSIM",
                               cols, rows),
                   "give at least 11 x 11 pixels");
    static const std::array<double, kWindow> w = window();
    // Means of a, b, aa, bb and ab along the last eleven rows: no picture is too large for these.
    const std::size_t across = cols - kWindow + 1;
    std::array<std::array<std::vector<double>, kWindow>, 5> along;
    for (auto& quantity : along)
        for (auto& row : quantity) row.resize(across);
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < across; ++j) {
            std::array<double, 5> mean{};
            for (std::size_t k = 0; k < kWindow; ++k) {
                const double a = truth(i, j + k), b = estimate(i, j + k);
                const std::array<double, 5> values{a, b, a * a, b * b, a * b};
                for (std::size_t q = 0; q < 5; ++q) mean[q] += w[k] * values[q];
            }
            for (std::size_t q = 0; q < 5; ++q) along[q][i % kWindow][j] = mean[q];
        }
        if (i + 1 < kWindow) continue;
        for (std::size_t j = 0; j < across; ++j) {
            std::array<double, 5> mean{};
            for (std::size_t k = 0; k < kWindow; ++k)
                for (std::size_t q = 0; q < 5; ++q)
                    mean[q] += w[k] * along[q][(i + 1 + k) % kWindow][j];
            sum += similarity(mean);
        }
    }
    return sum / static_cast<double>(across * (rows - kWindow + 1));
}

}  // namespace pibinn
