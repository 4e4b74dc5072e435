#include "theory/row_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pibinn {

namespace {

constexpr double kRounding = 1e-6;

double distance(std::span<const float> a, std::span<const float> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    return std::sqrt(sum);
}

std::size_t nonzeros_of(std::span<const float> values) {
    double largest = 0;
    for (const float v : values) largest = std::max(largest, std::abs(double{v}));
    const auto counts = [&](float v) { return std::abs(double{v}) > kRounding * largest; };
    return static_cast<std::size_t>(std::count_if(values.begin(), values.end(), counts));
}

}  // namespace

double length_of(std::span<const float> values) {
    double sum = 0;
    for (const float v : values) sum += double{v} * v;
    return std::sqrt(sum);
}

std::optional<double> RowMeasures::relative_residual() const {
    if (!residual) return {};
    if (measured > 0) return *residual / measured;
    return *residual == 0 ? 0 : std::numeric_limits<double>::infinity();
}

RowPart whole_row(const Model& model) { return {0, model.op.rows(), 0, model.op.cols()}; }

std::vector<RowPart> parts_of_row(const Model& model) {
    const Structure& s = model.op.structure();
    const std::size_t m = s.rows() / s.repeat(), n = s.cols() / s.repeat();
    std::vector<RowPart> parts;
    for (std::size_t u = 0; u < s.repeat(); ++u)
        for (const Block& b : s.parts())
            parts.push_back({u * m + b.row, b.rows, u * n + b.col, b.cols});
    return parts;
}

Matrix<RowMeasures> measure_rows(const Model& model, ConstBatchView y, ConstBatchView coefficients,
                                 const std::vector<RowPart>& parts, ThreadPool& pool) {
    const bool has_operator = model.spec.architecture == Architecture::unrolled;
    const Batch again = has_operator ? model.op.apply(coefficients, pool) : Batch();
    Matrix<RowMeasures> rows(y.rows, parts.size());
    pool.run_chunks(y.rows, 64, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t p = 0; p < parts.size(); ++p) {
                const RowPart& part = parts[p];
                const auto own_y = y.row(i).subspan(part.row, part.rows);
                const auto own_c = coefficients.row(i).subspan(part.col, part.cols);
                RowMeasures& measures = rows(i, p);
                measures.length = length_of(own_c);
                measures.measured = length_of(own_y);
                measures.nonzeros = nonzeros_of(own_c);
                if (has_operator)
                    measures.residual =
                        distance(own_y, again.view().row(i).subspan(part.row, part.rows));
            }
    });
    return rows;
}

}  // namespace pibinn
