#include "algebra/products.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/random.hpp"

namespace pibinn {
namespace {

template <class T>
Matrix<T> normal_matrix(std::size_t rows, std::size_t cols, std::uint64_t index) {
    Matrix<T> out(rows, cols);
    Stream stream(1, Purpose::tests, index);
    for (T& v : out.values()) v = static_cast<T>(stream.normal());
    return out;
}

std::vector<Structure> structures() {
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{3, 7}, {1, 1}, {5, 2}};
    return {Structure::dense(1, 1),
            Structure::dense(5, 9),
            Structure::dense(33, 17),
            Structure::repeated(3, 5, 4),
            Structure::repeated(1, 3, 2),
            Structure::blocks(shapes),
            Structure::mask(4, 5, {0, 2, 3, 6, 7, 8}, {0, 3, 1, 0, 1, 2, 3, 2})};
}

template <class T>
Matrix<T> dense_of(const Structure& s, std::span<const T> values) {
    Matrix<T> a(s.rows(), s.cols());
    s.for_each_link([&](std::size_t i, std::size_t j, std::size_t l) { a(i, j) = values[l]; });
    return a;
}

/// op(A) op(B) by three loops, in float64.
template <class T>
Matrix<double> naive(const Matrix<T>& a, bool ta, const Matrix<T>& b, bool tb) {
    Matrix<double> c(ta ? a.cols() : a.rows(), tb ? b.rows() : b.cols());
    const std::size_t inner = ta ? a.rows() : a.cols();
    for (std::size_t i = 0; i < c.rows(); ++i)
        for (std::size_t j = 0; j < c.cols(); ++j)
            for (std::size_t k = 0; k < inner; ++k)
                c(i, j) += double{ta ? a(k, i) : a(i, k)} * double{tb ? b(j, k) : b(k, j)};
    return c;
}

template <class T>
void expect_near(const Matrix<T>& found, const Matrix<double>& expected) {
    ASSERT_EQ(found.rows(), expected.rows());
    ASSERT_EQ(found.cols(), expected.cols());
    const double bound = std::is_same_v<T, float> ? 2e-5 : 1e-13;
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found.data()[i], expected.data()[i], bound) << "entry " << i;
}

template <class T>
class Products : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Products, Precisions);

TYPED_TEST(Products, MultiplyEqualsThreeLoops) {
    using T = TypeParam;
    for (const auto& [m, k, n] : std::vector<std::array<std::size_t, 3>>{
             {1, 1, 1}, {2, 3, 5}, {17, 1, 9}, {1, 33, 7}, {31, 29, 37}})
        for (int transposed = 0; transposed < 4; ++transposed) {
            const bool ta = transposed & 1;
            const bool tb = transposed & 2;
            const auto a = ta ? normal_matrix<T>(k, m, 1) : normal_matrix<T>(m, k, 1);
            const auto b = tb ? normal_matrix<T>(n, k, 2) : normal_matrix<T>(k, n, 2);
            Matrix<T> c = normal_matrix<T>(m, n, 3);
            Matrix<double> sum = naive(a, ta, b, tb);
            for (std::size_t i = 0; i < sum.size(); ++i) sum.data()[i] += c.data()[i];
            multiply<T>(a, ta, b, tb, c, true);
            expect_near(c, sum);
            multiply<T>(a, ta, b, tb, c);
            expect_near(c, naive(a, ta, b, tb));
        }
}

TYPED_TEST(Products, MultiplyReadsAndWritesWindows) {
    using T = TypeParam;
    const Matrix<T> big = normal_matrix<T>(6, 9, 4);
    Matrix<T> a(4, 3);
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 3; ++j) a(i, j) = big(i + 1, j + 5);
    const Matrix<T> b = normal_matrix<T>(3, 2, 5);
    Matrix<T> out = normal_matrix<T>(4, 5, 6);
    const Matrix<T> before = out;
    multiply<T>(big.view().row_range(1, 5).col_range(5, 8), false, b, false,
                out.view().col_range(2, 4));
    const Matrix<double> product = naive(a, false, b, false);
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 5; ++j) {
            if (j < 2 || j == 4)
                EXPECT_EQ(out(i, j), before(i, j));
            else
                EXPECT_NEAR(out(i, j), product(i, j - 2), 1e-5);
        }
}

TYPED_TEST(Products, MultiplyOfNothingIsZeroOrNothing) {
    using T = TypeParam;
    Matrix<T> c = normal_matrix<T>(2, 3, 7);
    multiply<T>(Matrix<T>(2, 0), false, Matrix<T>(0, 3), false, c);
    for (T v : c.values()) EXPECT_EQ(v, T{0});
    Matrix<T> none(0, 3);
    EXPECT_NO_THROW(multiply<T>(Matrix<T>(0, 4), false, Matrix<T>(4, 3), false, none));
    EXPECT_THROW(multiply<T>(Matrix<T>(2, 4), false, Matrix<T>(5, 3), false, c), Error);
}

TYPED_TEST(Products, LinksEqualTheDenseMatrixOnEveryStructure) {
    using T = TypeParam;
    ThreadPool pool(2);
    for (const Structure& s : structures())
        for (std::size_t rows : {0u, 1u, 3u, 300u}) {
            const Matrix<T> links = normal_matrix<T>(1, s.links(), 8);
            const Matrix<T> a = dense_of<T>(s, links.values());
            const Matrix<T> x = normal_matrix<T>(rows, s.cols(), 9);
            const Matrix<T> y = normal_matrix<T>(rows, s.rows(), 10);
            // Outputs start as NaN: every entry must be written, none added to.
            Matrix<T> ax(rows, s.rows());
            Matrix<T> aty(rows, s.cols());
            for (T& v : ax.values()) v = static_cast<T>(NAN);
            for (T& v : aty.values()) v = static_cast<T>(NAN);
            apply_links<T>(s, links.values(), x, ax, pool);
            adjoint_links<T>(s, links.values(), y, aty, pool);
            expect_near(ax, naive(x, false, a, true));
            expect_near(aty, naive(y, false, a, false));
        }
}

TYPED_TEST(Products, AdjointIsTheAdjoint) {
    using T = TypeParam;
    ThreadPool pool(1);
    for (const Structure& s : structures()) {
        const Matrix<T> links = normal_matrix<T>(1, s.links(), 11);
        const Matrix<T> x = normal_matrix<T>(1, s.cols(), 12);
        const Matrix<T> y = normal_matrix<T>(1, s.rows(), 13);
        Matrix<T> ax(1, s.rows());
        Matrix<T> aty(1, s.cols());
        apply_links<T>(s, links.values(), x, ax, pool);
        adjoint_links<T>(s, links.values(), y, aty, pool);
        double left = 0;
        double right = 0;
        for (std::size_t i = 0; i < ax.size(); ++i) left += double{ax.data()[i]} * y.data()[i];
        for (std::size_t j = 0; j < aty.size(); ++j) right += double{aty.data()[j]} * x.data()[j];
        EXPECT_NEAR(left, right, (std::is_same_v<T, float> ? 1e-4 : 1e-12));
    }
}

TYPED_TEST(Products, AreTheSameBytesForAnyNumberOfThreads) {
    using T = TypeParam;
    for (const Structure& s : structures()) {
        const Matrix<T> links = normal_matrix<T>(1, s.links(), 14);
        const Matrix<T> x = normal_matrix<T>(700, s.cols(), 15);
        ThreadPool one(1);
        Matrix<T> expected(700, s.rows());
        Matrix<T> back(700, s.cols());
        apply_links<T>(s, links.values(), x, expected, one);
        adjoint_links<T>(s, links.values(), expected, back, one);
        for (std::size_t threads : {2u, 3u}) {
            ThreadPool many(threads);
            Matrix<T> y(700, s.rows());
            Matrix<T> z(700, s.cols());
            apply_links<T>(s, links.values(), x, y, many);
            adjoint_links<T>(s, links.values(), y, z, many);
            EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(T)), 0);
            EXPECT_EQ(std::memcmp(z.data(), back.data(), z.size() * sizeof(T)), 0);
        }
    }
}

}  // namespace
}  // namespace pibinn
