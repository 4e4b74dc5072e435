#include <algorithm>
#include <cmath>

#include "problem/formula_rules.hpp"
#include "problem/real_fft.hpp"

namespace pibinn {

namespace {

double norm_of_row(std::size_t k, double n) { return std::sqrt((k == 0 ? 1 : 2) / n); }

/// The DCT-II of n numbers is the Fourier transform of the same numbers in another order, even
/// places first and odd ones backwards, turned by a quarter of a step per frequency (Makhoul,
/// 1980).
class DctProduct final : public FormulaProduct {
public:
    DctProduct(const BlockFormula& f, std::size_t n)
        : f_(f), n_(n), fft_(n), work_(n), coefficients_(n + 1), sign_(n, 1.0F) {
        const std::vector<double> cosines = quarter_cosines(n);
        for (std::size_t k = 0; k <= n / 2; ++k)
            turn_.emplace_back(cosines[k], cosines[(k + 3 * n) % (4 * n)]);
        for (std::size_t j = 0; j < f.flipped.size(); ++j)
            if (f.flipped[j]) sign_[j] = -1.0F;
    }

    void apply(std::span<const float> x, std::span<float> y) override {
        for (std::size_t j = 0; j < n_; ++j) work_[place(j)] = sign_[j] * x[j];
        fft_.forward(work_);
        for (std::size_t k = 0; k <= n_ / 2; ++k) {
            const auto c = std::conj(turn_[k]) * fft_.spectrum()[k];
            coefficients_[k] = c.real();
            if (k > 0) coefficients_[n_ - k] = -c.imag();
        }
        for (std::size_t i = 0; i < y.size(); ++i) {
            const std::size_t k = f_.rows[i];
            y[i] = static_cast<float>(f_.scale * norm(k) * coefficients_[k]);
        }
    }
    void adjoint(std::span<const float> y, std::span<float> x) override {
        std::fill(coefficients_.begin(), coefficients_.end(), 0.0);
        for (std::size_t i = 0; i < y.size(); ++i) {
            const std::size_t k = f_.rows[i];
            coefficients_[k] = f_.scale * y[i] / norm(k);
        }
        for (std::size_t k = 0; k <= n_ / 2; ++k)
            fft_.spectrum()[k] =
                turn_[k] * std::complex(coefficients_[k], k > 0 ? -coefficients_[n_ - k] : 0.0);
        fft_.inverse(work_);
        for (std::size_t j = 0; j < n_; ++j) x[j] = static_cast<float>(sign_[j] * work_[place(j)]);
    }

private:
    std::size_t place(std::size_t j) const { return j % 2 == 0 ? j / 2 : n_ - 1 - j / 2; }
    double norm(std::size_t k) const { return norm_of_row(k, static_cast<double>(n_)); }

    const BlockFormula& f_;
    std::size_t n_;
    RealFft fft_;
    std::vector<double> work_, coefficients_;
    std::vector<std::complex<double>> turn_;  ///< exp(pi i k / (2 n))
    std::vector<float> sign_;
};

void fill(const BlockFormula& f, std::size_t m, std::size_t n, std::span<float> values) {
    const std::vector<double> cosines = quarter_cosines(n);
    for (std::size_t j = 0; j < n; ++j) {
        const double sign = !f.flipped.empty() && f.flipped[j] ? -1 : 1;
        for (std::size_t i = 0; i < m; ++i) {
            const std::size_t k = f.rows[i];
            values[j * m + i] =
                static_cast<float>(sign * f.scale * norm_of_row(k, static_cast<double>(n)) *
                                   cosines[(2 * j + 1) * k % (4 * n)]);
        }
    }
}

/// Measured in batches of 256 on one thread (Xeon, AVX-512), times faster than the product of all
/// entries by OpenBLAS: 0.7 for 128 x 256, 1.7 for 250 x 500, 3 for 512 x 1024, 6 for 1024 x 2048.
bool faster(const BlockFormula&, std::size_t m, std::size_t n) { return m * n > 11 * fft_work(n); }

}  // namespace

extern const FormulaRules dct_formula;
const FormulaRules dct_formula{.name = "dct",
                               .transform_rows = [](std::size_t n) { return n; },
                               .fill = fill,
                               .faster = faster,
                               .product = [](const BlockFormula& f, std::size_t,
                                             std::size_t n) -> std::unique_ptr<FormulaProduct> {
                                   return std::make_unique<DctProduct>(f, n);
                               }};

}  // namespace pibinn
