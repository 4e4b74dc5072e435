#include <cmath>
#include <complex>

#include <unsupported/Eigen/FFT>

#include "problem/formula_rules.hpp"
#include "problem/real_fft.hpp"

namespace pibinn {

namespace {

/// The unitary transform of n complex numbers, held as n real and then n imaginary parts: rows r
/// below n are the real parts of frequency r, rows n + r its imaginary parts. A block that has both
/// of each frequency is a complex operator.
class DftProduct final : public FormulaProduct {
public:
    DftProduct(const BlockFormula& f, std::size_t n)
        : norm_(f.scale / std::sqrt(static_cast<double>(n))),
          n_(n),
          rows_(f.rows),
          sign_(2 * n, 1.0),
          signal_(n),
          spectrum_(n) {
        for (std::size_t j = 0; j < f.flipped.size(); ++j)
            if (f.flipped[j]) sign_[j] = -1;
    }

    void apply(std::span<const float> x, std::span<float> y) override {
        for (std::size_t j = 0; j < n_; ++j)
            signal_[j] = {sign_[j] * x[j], sign_[n_ + j] * x[n_ + j]};
        if (n_ == 1)  // of which Eigen's transform knows nothing
            spectrum_ = signal_;
        else
            fft_.fwd(spectrum_, signal_);
        for (std::size_t i = 0; i < y.size(); ++i) {
            const std::size_t row = rows_[i];
            y[i] = static_cast<float>(
                norm_ * (row < n_ ? spectrum_[row].real() : spectrum_[row - n_].imag()));
        }
    }
    void adjoint(std::span<const float> y, std::span<float> x) override {
        std::fill(spectrum_.begin(), spectrum_.end(), 0.0);
        for (std::size_t i = 0; i < y.size(); ++i) {
            const std::size_t row = rows_[i];
            spectrum_[row % n_] +=
                row < n_ ? std::complex<double>(y[i], 0.0) : std::complex<double>(0.0, y[i]);
        }
        if (n_ == 1)
            signal_ = spectrum_;
        else
            fft_.inv(signal_, spectrum_);
        const double scale = norm_ * static_cast<double>(n_);  // the inverse divides by n
        for (std::size_t j = 0; j < n_; ++j) {
            x[j] = static_cast<float>(scale * sign_[j] * signal_[j].real());
            x[n_ + j] = static_cast<float>(scale * sign_[n_ + j] * signal_[j].imag());
        }
    }

private:
    double norm_;
    std::size_t n_;
    std::vector<std::uint32_t> rows_;
    std::vector<double> sign_;
    std::vector<std::complex<double>> signal_, spectrum_;
    Eigen::FFT<double> fft_;
};

void fill_dft(const BlockFormula& f, std::size_t m, std::size_t cols, std::span<float> values) {
    const std::size_t n = cols / 2;
    const std::vector<double> cosines = quarter_cosines(n);
    const double norm = f.scale / std::sqrt(static_cast<double>(n));
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < cols; ++j) {
            const std::size_t turn = 4 * (f.rows[i] % n * (j % n) % n);
            const bool imaginary = f.rows[i] >= n;
            const double sign = !f.flipped.empty() && f.flipped[j] ? -1 : 1;
            // exp(-i t) (a + i b) is (a cos t + b sin t) + i (b cos t - a sin t);
            // sin(pi t / (2 n)) is cos(pi (t + 3 n) / (2 n)).
            const bool sine = imaginary != (j >= n);
            const double value = cosines[(turn + (sine ? 3 * n : 0)) % (4 * n)];
            values[j * m + i] =
                static_cast<float>(sign * norm * (sine && imaginary ? -value : value));
        }
}

/// As for `fourier`, where a complex transform takes twice the time of a real one.
bool dft_is_faster(const BlockFormula&, std::size_t m, std::size_t cols) {
    return m * cols > 18 * fft_work(cols / 2);
}

}  // namespace

extern const FormulaRules dft_formula;
const FormulaRules dft_formula{
    .name = "dft",
    .transform_rows = [](std::size_t cols) -> std::size_t { return cols % 2 == 0 ? cols : 0; },
    .fill = fill_dft,
    .faster = dft_is_faster,
    .product = [](const BlockFormula& f, std::size_t, std::size_t cols)
        -> std::unique_ptr<FormulaProduct> { return std::make_unique<DftProduct>(f, cols / 2); }};

}  // namespace pibinn
