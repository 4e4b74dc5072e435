#include <algorithm>
#include <cmath>
#include <complex>

#include <Eigen/Dense>

#include "reference/reference.hpp"

namespace pibinn {

namespace {

using Complex = std::complex<double>;

/// One row of a group: its part of the block in complex numbers, whose imaginary parts are zero
/// where entries are real.
struct ComplexRow {
    const Block& part;
    std::size_t halves, first_row, first_col;

    std::size_t measurements() const { return part.rows / halves; }
    std::size_t sites() const { return part.cols / halves; }
    Complex x(std::span<const double> x, std::size_t j) const {
        return at(x, first_col + j, sites());
    }
    Complex y(std::span<const double> y, std::size_t i) const {
        return at(y, first_row + i, measurements());
    }
    Complex a(const Matrix<double>& a, std::size_t i, std::size_t j) const {
        const std::size_t row = first_row + i, col = first_col + j;
        return {a(row, col), halves == 2 ? a(row + measurements(), col) : 0.0};
    }

private:
    Complex at(std::span<const double> values, std::size_t real, std::size_t apart) const {
        return {values[real], halves == 2 ? values[real + apart] : 0.0};
    }
};

/// It ends where float32 has no digits left to gain, as the library does.
void conjugate_gradients(const Eigen::MatrixXcd& a, const Eigen::VectorXcd& y, std::size_t steps,
                         Eigen::VectorXcd& x) {
    Eigen::VectorXcd s = a.adjoint() * (y - a * x), p = s;
    const double enough = 1e-14 * s.squaredNorm();
    for (std::size_t step = 0; step < steps && s.squaredNorm() > enough; ++step) {
        const double gamma = s.squaredNorm();
        x += gamma / (a * p).squaredNorm() * p;
        s = a.adjoint() * (y - a * x);
        p = s + s.squaredNorm() / gamma * p;
    }
}

}  // namespace

void reference_polish(const NetworkSpec& spec, const Operator& op, double cut,
                      std::span<const double> y, std::span<double> x) {
    const Structure& s = op.structure();
    const Grouping grouping = grouping_of(spec.groups, s);
    const Matrix<double> dense = convert<double>(op.to_dense());
    for (std::size_t u = 0; u < s.repeat(); u += grouping.rows)
        for (const Block& part : s.parts()) {
            std::vector<ComplexRow> rows;
            for (std::size_t e = u; e < u + grouping.rows; ++e)
                rows.push_back({part, grouping.halves, part.row + e * s.rows() / s.repeat(),
                                part.col + e * s.cols() / s.repeat()});
            const std::size_t m = rows[0].measurements(), n = rows[0].sites();
            std::vector<double> sizes(n);
            for (std::size_t j = 0; j < n; ++j) {
                for (const ComplexRow& row : rows) sizes[j] += std::norm(row.x(x, j));
                sizes[j] = std::sqrt(sizes[j]);
            }
            const double most = *std::max_element(sizes.begin(), sizes.end());
            std::vector<std::size_t> support;
            for (std::size_t j = 0; j < n; ++j)
                if (sizes[j] > cut * most) support.push_back(j);
            if (support.empty() || support.size() > m) continue;
            for (const ComplexRow& row : rows) {
                Eigen::MatrixXcd a(m, support.size());
                Eigen::VectorXcd measured(m), found(support.size());
                for (std::size_t i = 0; i < m; ++i) {
                    const auto at = static_cast<Eigen::Index>(i);
                    measured[at] = row.y(y, i);
                    for (std::size_t e = 0; e < support.size(); ++e)
                        a(at, static_cast<Eigen::Index>(e)) = row.a(dense, i, support[e]);
                }
                if (spec.centre) {
                    measured.array() -= measured.mean();
                    a.rowwise() -= a.colwise().mean().eval();
                }
                for (std::size_t e = 0; e < support.size(); ++e)
                    found[static_cast<Eigen::Index>(e)] = row.x(x, support[e]);
                conjugate_gradients(a, measured, spec.polish, found);
                std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(row.first_col), part.cols, 0.0);
                for (std::size_t e = 0; e < support.size(); ++e) {
                    const Complex value = found[static_cast<Eigen::Index>(e)];
                    x[row.first_col + support[e]] = value.real();
                    if (grouping.halves == 2) x[row.first_col + n + support[e]] = value.imag();
                }
            }
        }
}

}  // namespace pibinn
