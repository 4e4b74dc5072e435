#include <algorithm>

#include "problem/formula_rules.hpp"

namespace pibinn {

namespace {

/// Calls visit(tap, row, column, length) for every diagonal of an m x n block that has a tap.
template <class Visit>
void for_each_diagonal(const BlockFormula& f, std::size_t m, std::size_t n, Visit&& visit) {
    for (std::size_t t = 0; t < f.taps.size(); ++t) {
        const std::ptrdiff_t below = f.first + static_cast<std::ptrdiff_t>(t);  // i - j
        const auto row = static_cast<std::size_t>(std::max<std::ptrdiff_t>(below, 0));
        const auto col = static_cast<std::size_t>(std::max<std::ptrdiff_t>(-below, 0));
        visit(f.taps[t], row, col, std::min(m - row, n - col));
    }
}

class ConvolutionProduct final : public FormulaProduct {
public:
    ConvolutionProduct(const BlockFormula& f, std::size_t m, std::size_t n) : f_(f), m_(m), n_(n) {}

    void apply(std::span<const float> x, std::span<float> y) override {
        std::fill(y.begin(), y.end(), 0.0F);
        for_each_diagonal(f_, m_, n_,
                          [&](float tap, std::size_t row, std::size_t col, std::size_t length) {
                              add(tap, &x[col], &y[row], length);
                          });
    }
    void adjoint(std::span<const float> y, std::span<float> x) override {
        std::fill(x.begin(), x.end(), 0.0F);
        for_each_diagonal(f_, m_, n_,
                          [&](float tap, std::size_t row, std::size_t col, std::size_t length) {
                              add(tap, &y[row], &x[col], length);
                          });
    }

private:
    static void add(float tap, const float* from, float* __restrict to, std::size_t length) {
        for (std::size_t i = 0; i < length; ++i) to[i] += tap * from[i];
    }

    const BlockFormula& f_;
    std::size_t m_, n_;
};

void fill(const BlockFormula& f, std::size_t m, std::size_t n, std::span<float> values) {
    std::fill(values.begin(), values.end(), 0.0F);
    for_each_diagonal(f, m, n,
                      [&](float tap, std::size_t row, std::size_t col, std::size_t length) {
                          for (std::size_t i = 0; i < length; ++i)
                              values[(col + i) * m + row + i] = tap;
                      });
}

/// Measured in batches of 256 on one thread (Xeon, AVX-512), times faster than the product of all
/// entries by OpenBLAS: with 17 taps 1.4 at n = 64 and 5 at 256, with 33 taps 0.8 at 64 and 3 at
/// 256. Link by link, as a mask has it, A^T y takes three times as long at any size, and A x twice
/// as long with 3 taps; only A x of signals with 5 % of their entries takes half as long with 33.
bool faster(const BlockFormula& f, std::size_t m, std::size_t n) {
    return 3 * f.taps.size() <= std::min(m, n);
}

}  // namespace

extern const FormulaRules convolution_formula;
const FormulaRules convolution_formula{
    .name = "convolution",
    .fill = fill,
    .faster = faster,
    .product = [](const BlockFormula& f, std::size_t m,
                  std::size_t n) -> std::unique_ptr<FormulaProduct> {
        return std::make_unique<ConvolutionProduct>(f, m, n);
    }};

}  // namespace pibinn
