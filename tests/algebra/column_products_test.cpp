#include "algebra/cpu/column_products.hpp"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "pibinn/random.hpp"

namespace pibinn::cpu {
namespace {

struct Shape {
    std::size_t m, n, rows;
    double density;    ///< of the batch
    double links = 1;  ///< the share of links: a mask below 1
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
    return out << s.m << "x" << s.n << ", " << s.rows << " rows, density " << s.density
               << ", links " << s.links;
}

/// Every instruction set this processor has: a kernel that is right on one can fail on another.
struct OnTarget {
    std::int64_t target;
    Shape shape;
};

std::ostream& operator<<(std::ostream& out, const OnTarget& on) {
    return out << hwy::TargetName(on.target) << ", " << on.shape;
}

std::vector<OnTarget> on_every_target(std::initializer_list<Shape> shapes) {
    std::vector<OnTarget> all;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        for (const Shape& shape : shapes) all.push_back({target, shape});
    return all;
}

/// The links of a mask, drawn; nothing for a full block.
struct Pattern {
    explicit Pattern(const Shape& shape) {
        if (shape.links == 1) return;
        Stream stream(8, Purpose::tests);
        offsets.push_back(0);
        for (std::size_t j = 0; j < shape.n; ++j) {
            for (std::uint32_t i = 0; i < shape.m; ++i)
                if (i == j % shape.m || stream.bernoulli(shape.links)) rows.push_back(i);
            offsets.push_back(static_cast<std::uint32_t>(rows.size()));
        }
    }
    std::vector<std::uint32_t> offsets, rows;
};

/// Numbers for all four products of one block, padded, and the products by their definition.
class ColumnProductsOf : public testing::TestWithParam<OnTarget> {
protected:
    using Rows = AlignedBuffer<float>;

    ColumnProductsOf()
        : pattern_(GetParam().shape),
          block_{.rows = GetParam().shape.m,
                 .cols = GetParam().shape.n,
                 .offsets = pattern_.offsets,
                 .row_indices = pattern_.rows},
          products_(block_),
          rows_(GetParam().shape.rows),
          links_(draw(block_.links())),
          whole_(block_.rows, block_.cols),
          columns_(products_.size()),
          by_row_(products_.size()),
          v_(rows_ * products_.m_stride()),
          c_(rows_ * products_.n_stride()),
          starts_{0} {
        hwy::GetChosenTarget().Update(GetParam().target);
        for_each_link(
            [&](std::size_t r, std::size_t j, std::size_t l) { whole_(r, j) = links_[l]; });
        products_.lay_out(links_, columns_);
        products_.lay_out_rows(links_, by_row_);
        for (std::size_t i = 0; i < rows_; ++i) {
            for (std::size_t r = 0; r < m(); ++r) v(i, r) = number();
            for (std::size_t j = 0; j < n(); ++j)
                if (stream_.uniform() < GetParam().shape.density) {
                    c(i, j) = number();
                    indices_.push_back(static_cast<std::uint32_t>(j));
                }
            starts_.push_back(static_cast<std::uint32_t>(indices_.size()));
        }
    }

    ~ColumnProductsOf() override { hwy::GetChosenTarget().DeInit(); }

    std::size_t m() const { return block_.rows; }
    std::size_t n() const { return block_.cols; }
    float& v(std::size_t i, std::size_t r) { return v_[i * products_.m_stride() + r]; }
    float& c(std::size_t i, std::size_t j) { return c_[i * products_.n_stride() + j]; }
    double w(std::size_t r, std::size_t j) const { return whole_(r, j); }
    template <class Visit>
    void for_each_link(Visit&& visit) const {
        for (std::size_t j = 0; j < n(); ++j)
            if (block_.full())
                for (std::size_t r = 0; r < m(); ++r) visit(r, j, j * m() + r);
            else
                for (std::size_t l = block_.offsets[j]; l < block_.offsets[j + 1]; ++l)
                    visit(std::size_t{block_.row_indices[l]}, j, l);
    }
    Supports supports() const { return {indices_.data(), starts_.data()}; }
    double dot(std::size_t i, std::size_t j) {
        double sum = 0;
        for (std::size_t r = 0; r < m(); ++r) sum += w(r, j) * v(i, r);
        return sum;
    }
    /// Rounding of a float32 sum of `terms` products of numbers of about one.
    static double tolerance(std::size_t terms) { return 1e-6 * static_cast<double>(terms + 10); }

private:
    float number() { return static_cast<float>(stream_.normal()); }
    Rows draw(std::size_t count) {
        Rows numbers(count);
        for (float& value : numbers) value = number();
        return numbers;
    }

    Stream stream_{7, Purpose::weights, 0};

protected:
    Pattern pattern_;
    Block block_;
    ColumnProducts products_;
    std::size_t rows_;
    Rows links_;
    Matrix<double> whole_;
    Rows columns_, by_row_, v_, c_;
    std::vector<std::uint32_t> indices_, starts_;
};

TEST_P(ColumnProductsOf, AllDotsAreThoseOfTheDefinition) {
    Rows q(rows_ * products_.n_stride());
    products_.all_dots(rows_, v_.data(), by_row_.data(), q.data());
    for (std::size_t i = 0; i < rows_; ++i)
        for (std::size_t j = 0; j < n(); ++j)
            ASSERT_NEAR(q[i * products_.n_stride() + j], dot(i, j), tolerance(m()));
}

TEST_P(ColumnProductsOf, SupportDotsAreThoseOfTheDefinition) {
    Rows q(rows_ * products_.n_stride());
    products_.support_dots(rows_, v_.data(), supports(), columns_.data(), by_row_.data(), q.data());
    for (std::size_t i = 0; i < rows_; ++i)
        for (std::size_t j = 0; j < n(); ++j)
            if (c(i, j) != 0) {
                ASSERT_NEAR(q[i * products_.n_stride() + j], dot(i, j), tolerance(m()));
            }
}

TEST_P(ColumnProductsOf, GatherIsThatOfTheDefinitionAndKeepsThePaddingZero) {
    for (const float* minus : {static_cast<const float*>(nullptr), std::as_const(v_).data()}) {
        Rows out(rows_ * products_.m_stride());
        products_.gather(rows_, c_.data(), supports(), columns_.data(), minus, out.data());
        for (std::size_t i = 0; i < rows_; ++i)
            for (std::size_t r = 0; r < products_.m_stride(); ++r) {
                double sum = minus && r < m() ? -v(i, r) : 0.0;
                for (std::size_t j = 0; j < n() && r < m(); ++j) sum += w(r, j) * c(i, j);
                ASSERT_NEAR(out[i * products_.m_stride() + r], sum, r < m() ? tolerance(n()) : 0.0);
            }
    }
}

TEST_P(ColumnProductsOf, OuterIsAddedOrAssignedAndTouchesNothingElse) {
    for (const Into into : {Into::add, Into::assign}) {
        // One more number than there are links, as another layer's gradient would follow.
        AlignedBuffer<float> total(links_.begin(), links_.end());
        total.push_back(7);
        products_.outer(rows_, c_.data(), supports(), v_.data(),
                        std::span(total).first(links_.size()), into);
        for_each_link([&](std::size_t r, std::size_t j, std::size_t l) {
            double sum = into == Into::add ? w(r, j) : 0;
            for (std::size_t i = 0; i < rows_; ++i) sum += c(i, j) * v(i, r);
            ASSERT_NEAR(total[l], sum, tolerance(rows_));
        });
        ASSERT_EQ(total.back(), 7);
    }
}

// Odd shapes for every tail, few and many non-zero entries for the sparse and the dense way, a
// block too large for our own dense product, and masks with every number of signals side by side.
INSTANTIATE_TEST_SUITE_P(
    Shapes, ColumnProductsOf,
    testing::ValuesIn(
        on_every_target({{1, 1, 1, 1.0},         {3, 5, 2, 0.5},         {16, 16, 6, 0.1},
                         {17, 33, 11, 0.9},      {50, 100, 64, 0.0},     {50, 100, 64, 0.1},
                         {50, 100, 64, 0.25},    {50, 100, 58, 0.35},    {50, 100, 61, 0.6},
                         {50, 100, 131, 0.2},    {150, 40, 20, 0.1},     {200, 200, 9, 0.1},
                         {200, 200, 9, 0.9},     {1, 3, 1, 1.0, 0.5},    {5, 2, 16, 0.5, 0.1},
                         {13, 29, 7, 0.3, 0.3},  {13, 29, 33, 0.3, 0.3}, {40, 70, 48, 0.1, 0.05},
                         {40, 70, 64, 0.9, 0.9}, {17, 33, 130, 0.2, 0.2}})));

}  // namespace
}  // namespace pibinn::cpu
