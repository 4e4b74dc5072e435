#include "pibinn/operator.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "algebra/complex_links.hpp"
#include "algebra/products.hpp"
#include "pibinn/error.hpp"
#include "problem/operator_formula.hpp"

namespace pibinn {

namespace {

/// Batches come from the user's files, so batches that do not fit are input errors.
void require_batches(const Structure& s, ConstBatchView x, ConstBatchView y) {
    if (x.cols != s.cols() || y.cols != s.rows())
        fail_input(
            fmt::format("expected {} entries per signal and {} per measurement, got {} and {}",
                        s.cols(), s.rows(), x.cols, y.cols),
            "one signal or measurement per row must fit the operator");
    if (x.rows != y.rows)
        fail_input(fmt::format("{} signals but {} measurements", x.rows, y.rows),
                   "row i of one must belong to row i of the other");
    if (s.repeat() > 1 && !(x.contiguous() && y.contiguous()))
        fail_usage("a repeated operator needs batches without gaps between their rows",
                   "copy the columns into a batch of their own first");
}

/// The links of a complex m x n matrix whose parts are re(i, j) and im(i, j).
template <class T, class Re, class Im>
AlignedBuffer<T> complex_values(std::size_t m, std::size_t n, Re&& re, Im&& im) {
    const Structure s = Structure::complex(m, n);
    AlignedBuffer<T> values(s.links());
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < m; ++i) {
            values[j * 2 * m + i] = re(i, j);
            values[j * 2 * m + m + i] = im(i, j);
        }
    complete_complex(s, std::span(values));
    return values;
}

/// Row and column of a link.
std::pair<std::size_t, std::size_t> place_of_link(const Block& b, std::size_t link) {
    if (b.full()) return {link % b.rows, link / b.rows};
    const auto after = std::upper_bound(b.offsets.begin(), b.offsets.end(), link);
    return {b.row_indices[link], static_cast<std::size_t>(after - b.offsets.begin()) - 1};
}

/// The four places of a complex entry hold its two parts.
void require_pairs(const Structure& s, std::span<const float> values) {
    const auto place = unpaired_link(s, values);
    if (!place) return;
    const auto [row, col] = place_of_link(s.parts()[0], *place);
    fail_input(fmt::format("entry {}, {} of a complex operator is not [[a, -b], [b, a]]", row, col),
               "give the real and the imaginary part of a complex matrix instead");
}

/// The entries of a matrix on a structure, compared as float32.
template <class T>
AlignedBuffer<T> values_on(MatrixView<const T> a, const Structure& s) {
    if (a.rows != s.rows() || a.cols != s.cols())
        fail_input(fmt::format("the structure is {} x {}, the matrix {} x {}", s.rows(), s.cols(),
                               a.rows, a.cols),
                   "give a matrix of the structure's shape");
    const auto rounded = [](T v) { return static_cast<float>(v); };
    AlignedBuffer<T> values(s.links());
    std::vector<bool> seen(s.links(), false);
    Matrix<char> linked(a.rows, a.cols);
    s.for_each_link([&](std::size_t i, std::size_t j, std::size_t link) {
        linked(i, j) = 1;
        if (seen[link] && rounded(values[link]) != rounded(a(i, j)))
            fail_input(fmt::format("the entry of row {}, column {} is {}, but the same entry of "
                                   "the first block is {}",
                                   i, j, rounded(a(i, j)), rounded(values[link])),
                       "the blocks differ: use structure 'blocks' instead of 'repeated'");
        if (!seen[link]) values[link] = a(i, j);
        seen[link] = true;
    });
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t j = 0; j < a.cols; ++j)
            if (!linked(i, j) && rounded(a(i, j)) != 0.0F)
                fail_input(fmt::format("the entry of row {}, column {} is {}, but the structure "
                                       "'{}' has no link there",
                                       i, j, rounded(a(i, j)), to_string(s.kind())),
                           "choose a structure that holds every non-zero entry");
    return values;
}

/// Real or imaginary parts of an interleaved matrix.
template <class T>
Matrix<T> part_of(const Matrix<T>& interleaved, std::size_t part) {
    Matrix<T> values(interleaved.rows(), interleaved.cols() / 2);
    for (std::size_t i = 0; i < values.rows(); ++i)
        for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) = interleaved(i, 2 * j + part);
    return values;
}

/// The links of a complex mask whose pattern has these parts, column by column.
template <class T>
AlignedBuffer<T> joined_parts(const Structure& s, std::span<const T> re, std::span<const T> im) {
    AlignedBuffer<T> values(s.links());
    const Block& b = s.parts()[0];
    std::size_t from = 0;
    for (std::size_t j = 0; j < b.cols / 2; ++j) {
        const std::size_t begin = b.column_begin(j), each = (b.column_begin(j + 1) - begin) / 2;
        std::copy_n(&re[from], each, &values[begin]);
        std::copy_n(&im[from], each, &values[begin + each]);
        from += each;
    }
    complete_complex(s, std::span(values));
    return values;
}

/// The entries of a matrix that are not zero as float32, column by column.
template <class T>
Structure mask_of(MatrixView<const T> a, AlignedBuffer<T>& values) {
    std::vector<std::uint32_t> offsets{0};
    std::vector<std::uint32_t> rows;
    for (std::size_t j = 0; j < a.cols; ++j) {
        for (std::size_t i = 0; i < a.rows; ++i)
            if (static_cast<float>(a(i, j)) != 0.0F) {
                rows.push_back(static_cast<std::uint32_t>(i));
                values.push_back(a(i, j));
            }
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    return Structure::mask(a.rows, a.cols, std::move(offsets), std::move(rows));
}

}  // namespace

Operator::Operator(Structure structure, AlignedBuffer<float> values)
    : structure_(std::move(structure)), values_(std::move(values)) {
    if (values_.size() != structure_.links())
        fail_input(
            fmt::format("expected {} operator entries, got {}", structure_.links(), values_.size()),
            "the operator must have one value for each link of its structure");
    for (std::size_t i = 0; i < values_.size(); ++i)
        if (!std::isfinite(values_[i]))
            fail_input(fmt::format("operator entry {} is {}", i, values_[i]),
                       "replace NaN and infinite entries");
    require_pairs(structure_, values_);
    if (auto found = find_convolution(structure_, values_)) {
        fast_formula_ = formula_is_faster(*found, structure_);
        formula_ = std::make_shared<const OperatorFormula>(std::move(*found));
    }
}

Operator Operator::from_formula(const Structure& s, OperatorFormula formula) {
    require_formula(formula, s);
    Operator op(s, formula_values(formula, s));
    op.fast_formula_ = formula_is_faster(formula, s);
    op.formula_ = std::make_shared<const OperatorFormula>(std::move(formula));
    return op;
}

Operator Operator::convolution(std::size_t m, std::size_t n, std::vector<float> taps,
                               std::ptrdiff_t first) {
    OperatorFormula formula{FormulaKind::convolution, {{.taps = std::move(taps), .first = first}}};
    require_taps(formula.parts[0], m, n);
    const Structure s = convolution_mask(formula.parts[0], m, n);
    return from_formula(s, std::move(formula));
}

Operator Operator::from_values(Structure structure, AlignedBuffer<double> values) {
    Operator op(std::move(structure), AlignedBuffer<float>(values.begin(), values.end()));
    op.precise_ = std::make_shared<const AlignedBuffer<double>>(std::move(values));
    return op;
}

Operator Operator::from_dense(MatrixView<const float> a) {
    return from_dense(a, Structure::dense(a.rows, a.cols));
}
Operator Operator::from_dense(MatrixView<const double> a) {
    return from_dense(a, Structure::dense(a.rows, a.cols));
}

Operator Operator::from_dense(MatrixView<const float> a, const Structure& s) {
    return {s, values_on(a, s)};
}
Operator Operator::from_dense(MatrixView<const double> a, const Structure& s) {
    return from_values(s, values_on(a, s));
}

Operator Operator::from_complex(MatrixView<const float> re, MatrixView<const float> im,
                                std::size_t repeat) {
    if (re.rows != im.rows || re.cols != im.cols)
        fail_input(fmt::format("a real part of {} x {} and an imaginary part of {} x {}", re.rows,
                               re.cols, im.rows, im.cols),
                   "give both parts of one matrix");
    return {Structure::complex(re.rows, re.cols, repeat),
            complex_values<float>(
                re.rows, re.cols, [&](std::size_t i, std::size_t j) { return re(i, j); },
                [&](std::size_t i, std::size_t j) { return im(i, j); })};
}

Operator Operator::from_complex(const UserArray& a, std::size_t repeat) {
    if (!a.complex()) fail_input("the array holds real numbers", "give a complex matrix");
    const Structure s = Structure::complex(a.rows(), a.entries(), repeat);
    return a.visit([&]<class T>(const Matrix<T>& parts) -> Operator {
        auto values = complex_values<T>(
            a.rows(), a.entries(), [&](std::size_t i, std::size_t j) { return parts(i, 2 * j); },
            [&](std::size_t i, std::size_t j) { return parts(i, 2 * j + 1); });
        if constexpr (std::is_same_v<T, double>)
            return from_values(s, std::move(values));
        else
            return {s, std::move(values)};
    });
}

Operator Operator::from_complex(const UserArray& a, const Structure& pattern) {
    if (!a.complex()) fail_input("the array holds real numbers", "give a complex matrix");
    const Structure s = Structure::complex_mask(pattern);
    return a.visit([&]<class T>(const Matrix<T>& parts) -> Operator {
        const auto re = values_on<T>(part_of<T>(parts, 0), pattern);
        const auto im = values_on<T>(part_of<T>(parts, 1), pattern);
        auto values = joined_parts<T>(s, re, im);
        if constexpr (std::is_same_v<T, double>)
            return from_values(s, std::move(values));
        else
            return {s, std::move(values)};
    });
}

Operator Operator::from_complex(const Structure& pattern, std::span<const double> re,
                                std::span<const double> im) {
    if (re.size() != pattern.links() || im.size() != pattern.links())
        fail_input(fmt::format("{} real and {} imaginary parts for {} links", re.size(), im.size(),
                               pattern.links()),
                   "give both parts of every link");
    const Structure s = Structure::complex_mask(pattern);
    return from_values(s, joined_parts<double>(s, re, im));
}

Operator Operator::from_complex_sparse(const UserArray& a) {
    if (!a.complex()) fail_input("the array holds real numbers", "give a complex matrix");
    std::vector<std::uint32_t> offsets{0}, rows;
    a.visit([&](const auto& parts) {
        const auto zero = [](auto v) { return static_cast<float>(v) == 0.0F; };
        for (std::size_t j = 0; j < a.entries(); ++j) {
            for (std::size_t i = 0; i < a.rows(); ++i)
                if (!zero(parts(i, 2 * j)) || !zero(parts(i, 2 * j + 1)))
                    rows.push_back(static_cast<std::uint32_t>(i));
            offsets.push_back(static_cast<std::uint32_t>(rows.size()));
        }
    });
    return from_complex(
        a, Structure::mask(a.rows(), a.entries(), std::move(offsets), std::move(rows)));
}

Operator Operator::from_sparse(MatrixView<const float> a) {
    AlignedBuffer<float> values;
    Structure mask = mask_of(a, values);
    return {std::move(mask), std::move(values)};
}
Operator Operator::from_sparse(MatrixView<const double> a) {
    AlignedBuffer<double> values;
    Structure mask = mask_of(a, values);
    return from_values(std::move(mask), std::move(values));
}

Operator Operator::from_sparse(const SparseMatrix& a) {
    Structure pattern = Structure::mask(a.rows, a.cols, a.offsets, a.row_indices);
    if (a.complex()) return from_complex(pattern, a.values, a.imaginary);
    return from_values(std::move(pattern), AlignedBuffer<double>(a.values.begin(), a.values.end()));
}

std::span<const double> Operator::precise_values() const {
    return precise_ ? std::span<const double>(*precise_) : std::span<const double>();
}

Operator Operator::divided(double unit) const {
    AlignedBuffer<float> values(values_.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>((precise_ ? (*precise_)[i] : double{values_[i]}) / unit);
    return {structure_, std::move(values)};
}

Operator Operator::without_structure() const {
    if (!precise_) return from_dense(to_dense());
    Matrix<double> a(rows(), cols());
    structure_.for_each_link(
        [&](std::size_t i, std::size_t j, std::size_t link) { a(i, j) = (*precise_)[link]; });
    return from_dense(a);
}

void Operator::apply(ConstBatchView x, BatchView y, ThreadPool& pool) const {
    require_batches(structure_, x, y);
    if (fast_formula_)
        apply_formula(*formula_, structure_, x, y, pool);
    else
        apply_links<float>(structure_, values_, x, y, pool);
}

void Operator::adjoint(ConstBatchView y, BatchView x, ThreadPool& pool) const {
    require_batches(structure_, x, y);
    if (fast_formula_)
        adjoint_formula(*formula_, structure_, y, x, pool);
    else
        adjoint_links<float>(structure_, values_, y, x, pool);
}

Batch Operator::apply(ConstBatchView x, ThreadPool& pool) const {
    Batch y(x.rows, rows());
    apply(x, y, pool);
    return y;
}

Batch Operator::adjoint(ConstBatchView y, ThreadPool& pool) const {
    Batch x(y.rows, cols());
    adjoint(y, x, pool);
    return x;
}

Matrix<float> Operator::to_dense() const {
    Matrix<float> a(rows(), cols());
    structure_.for_each_link(
        [&](std::size_t i, std::size_t j, std::size_t link) { a(i, j) = values_[link]; });
    return a;
}

bool Operator::is_sign() const {
    for (float v : values_)
        if (v == 0.0F || std::abs(v) != std::abs(values_.front())) return false;
    return !values_.empty();
}

bool Operator::is_zero_one() const {
    float one = 0;
    bool zeros = false;
    for (float v : values_) {
        if (v == 0.0F)
            zeros = true;
        else if (one == 0.0F)
            one = v;
        else if (v != one)
            return false;
    }
    return zeros && one != 0.0F;
}

}  // namespace pibinn
