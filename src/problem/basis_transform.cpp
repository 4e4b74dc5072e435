#include "problem/basis_transform.hpp"

#include <cmath>

#include "problem/formula_rules.hpp"

namespace pibinn {

void TableTransform::analyse(const double* in, double* out, std::size_t stride) const {
    const std::size_t n = table_.rows();
    for (std::size_t k = 0; k < n; ++k) {
        const double* const row = table_.data() + k * n;
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += row[i] * in[i * stride];
        out[k * stride] = sum;
    }
}

void TableTransform::synthesise(const double* in, double* out, std::size_t stride) const {
    const std::size_t n = table_.rows();
    for (std::size_t i = 0; i < n; ++i) out[i * stride] = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double* const row = table_.data() + k * n;
        for (std::size_t i = 0; i < n; ++i) out[i * stride] += row[i] * in[k * stride];
    }
}

TableTransform dct_transform(std::size_t n) {
    Matrix<double> table(n, n);
    const std::vector<double> cosines = quarter_cosines(n);
    const auto length = static_cast<double>(n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i)
            table(k, i) = k == 0 ? 1 / std::sqrt(length)
                                 : std::sqrt(2 / length) * cosines[(2 * i + 1) * k % (4 * n)];
    return TableTransform(std::move(table));
}

}  // namespace pibinn
