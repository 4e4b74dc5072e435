#include <algorithm>
#include <cmath>

#include "problem/formula_rules.hpp"
#include "problem/real_fft.hpp"

namespace pibinn {

namespace {

/// The orthonormal transform of n real numbers: row 0 is constant, rows 2 f - 1 and 2 f are the
/// cosine and the sine of frequency f, and for even n the last row is the cosine of n / 2.
struct Row {
    std::size_t frequency = 0;
    bool sine = false;
    double norm = 0;

    Row(std::size_t row, std::size_t n)
        : frequency((row + 1) / 2),
          sine(row > 0 && row % 2 == 0),
          norm(std::sqrt((row == 0 || 2 * frequency == n ? 1 : 2) / static_cast<double>(n))) {}
};

class FourierProduct final : public FormulaProduct {
public:
    FourierProduct(const BlockFormula& f, std::size_t n)
        : scale_(f.scale), n_(n), fft_(n), work_(n), sign_(n, 1.0F) {
        for (const std::uint32_t row : f.rows) rows_.emplace_back(row, n);
        for (std::size_t j = 0; j < f.flipped.size(); ++j)
            if (f.flipped[j]) sign_[j] = -1.0F;
    }

    void apply(std::span<const float> x, std::span<float> y) override {
        for (std::size_t j = 0; j < n_; ++j) work_[j] = sign_[j] * x[j];
        fft_.forward(work_);
        for (std::size_t i = 0; i < y.size(); ++i) {
            const Row& row = rows_[i];
            const auto c = fft_.spectrum()[row.frequency];
            y[i] = static_cast<float>(scale_ * row.norm * (row.sine ? -c.imag() : c.real()));
        }
    }
    void adjoint(std::span<const float> y, std::span<float> x) override {
        const auto spectrum = fft_.spectrum();
        std::fill(spectrum.begin(), spectrum.end(), 0.0);
        for (std::size_t i = 0; i < y.size(); ++i) {
            const Row& row = rows_[i];
            const double c = scale_ * y[i] / row.norm;
            spectrum[row.frequency] += row.sine ? std::complex(0.0, -c) : std::complex(c, 0.0);
        }
        fft_.inverse(work_);
        for (std::size_t j = 0; j < n_; ++j) x[j] = static_cast<float>(sign_[j] * work_[j]);
    }

private:
    double scale_;
    std::size_t n_;
    RealFft fft_;
    std::vector<Row> rows_;
    std::vector<double> work_;
    std::vector<float> sign_;
};

void fill(const BlockFormula& f, std::size_t m, std::size_t n, std::span<float> values) {
    const std::vector<double> cosines = quarter_cosines(n);
    for (std::size_t i = 0; i < m; ++i) {
        const Row row(f.rows[i], n);
        for (std::size_t j = 0; j < n; ++j) {
            const double sign = !f.flipped.empty() && f.flipped[j] ? -1 : 1;
            // sin(2 pi t / n) is cos(pi (4 t + 3 n) / (2 n)).
            const std::size_t turn = 4 * (row.frequency * j % n) + (row.sine ? 3 * n : 0);
            values[j * m + i] =
                static_cast<float>(sign * f.scale * row.norm * cosines[turn % (4 * n)]);
        }
    }
}

/// Measured in batches of 256 on one thread (Xeon, AVX-512), times faster than the product of all
/// entries by OpenBLAS: 0.9 for 128 x 256, 2.5 for 250 x 500, 4 for 512 x 1024, 8 for 1024 x 2048.
bool faster(const BlockFormula&, std::size_t m, std::size_t n) { return m * n > 9 * fft_work(n); }

}  // namespace

extern const FormulaRules fourier_formula;
const FormulaRules fourier_formula{.name = "fourier",
                                   .transform_rows = [](std::size_t n) { return n; },
                                   .fill = fill,
                                   .faster = faster,
                                   .product = [](const BlockFormula& f, std::size_t,
                                                 std::size_t n) -> std::unique_ptr<FormulaProduct> {
                                       return std::make_unique<FourierProduct>(f, n);
                                   }};

}  // namespace pibinn
