#include "problem/operator_formula.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/random.hpp"
#include "problem/formula_rules.hpp"
#include "problem/real_fft.hpp"

// Products by formula against those of the matrix in float64, and what is found in given entries.

namespace pibinn {
namespace {

using Shape = std::pair<std::size_t, std::size_t>;

Batch random_rows(std::size_t rows, std::size_t cols, std::uint64_t index) {
    Stream stream(5, Purpose::tests, index);
    Batch batch(rows, cols);
    for (float& v : batch.values()) v = static_cast<float>(stream.normal());
    return batch;
}

Operator toeplitz(std::size_t m, std::size_t n, std::size_t taps, std::ptrdiff_t first) {
    Stream stream(6, Purpose::tests, m * n + taps);
    std::vector<float> values(taps);
    for (float& v : values) v = static_cast<float>(stream.normal());
    return Operator::convolution(m, n, values, first);
}

/// Both products by formula, whether they are faster or not, against the matrix; and that they are
/// adjoint to each other.
void expect_products(const Operator& op) {
    const OperatorFormula* formula = op.formula();
    ASSERT_NE(formula, nullptr);
    ThreadPool pool(2);
    const Batch x = random_rows(5, op.cols(), 1), y = random_rows(5, op.rows(), 2);
    Batch ax(5, op.rows()), aty(5, op.cols());
    apply_formula(*formula, op.structure(), x, ax, pool);
    adjoint_formula(*formula, op.structure(), y, aty, pool);
    const Matrix<float> a = op.to_dense();
    double size = 1e-30;
    for (const float v : a.values()) size = std::max(size, std::abs(double{v}));
    const double tolerance =
        3e-6 * size * std::sqrt(static_cast<double>(op.rows() + op.cols())) * 4;
    for (std::size_t r = 0; r < 5; ++r) {
        double left = 0, right = 0;
        for (std::size_t i = 0; i < op.rows(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < op.cols(); ++j) sum += double{a(i, j)} * x(r, j);
            ASSERT_NEAR(ax(r, i), sum, tolerance) << op.rows() << " x " << op.cols();
            left += double{ax(r, i)} * y(r, i);
        }
        for (std::size_t j = 0; j < op.cols(); ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < op.rows(); ++i) sum += double{a(i, j)} * y(r, i);
            ASSERT_NEAR(aty(r, j), sum, tolerance) << op.rows() << " x " << op.cols();
            right += double{aty(r, j)} * x(r, j);
        }
        EXPECT_NEAR(left, right, tolerance * 10 * std::sqrt(static_cast<double>(op.rows())));
    }
    // What the operator itself takes is one of the two.
    const Batch own = op.apply(x, pool), back = op.adjoint(y, pool);
    for (std::size_t i = 0; i < own.size(); ++i)
        ASSERT_NEAR(own.values()[i], ax.values()[i], 2 * tolerance);
    for (std::size_t i = 0; i < back.size(); ++i)
        ASSERT_NEAR(back.values()[i], aty.values()[i], 2 * tolerance);
}

TEST(Formula, ProductsAreThoseOfTheMatrix) {
    for (const OperatorEnsemble ensemble :
         {OperatorEnsemble::hadamard, OperatorEnsemble::dct, OperatorEnsemble::fourier})
        for (const auto& [m, n] : std::vector<Shape>{{1, 1},
                                                     {1, 2},
                                                     {2, 3},
                                                     {3, 4},
                                                     {5, 5},
                                                     {6, 8},
                                                     {7, 13},
                                                     {20, 33},
                                                     {50, 100},
                                                     {97, 97},
                                                     {300, 600}})
            expect_products(Operator::random(Structure::dense(m, n), ensemble, 7));
    for (const auto& [m, n, taps, first] : std::vector<std::array<std::ptrdiff_t, 4>>{
             {16, 16, 5, -2}, {20, 16, 5, 0}, {12, 16, 5, -4}, {3, 3, 5, -2}, {256, 256, 17, -8}})
        expect_products(toeplitz(static_cast<std::size_t>(m), static_cast<std::size_t>(n),
                                 static_cast<std::size_t>(taps), first));
}

TEST(Formula, ProductsOfBlocksAndRepetitionsAreThoseOfTheMatrix) {
    const std::vector<Shape> shapes{{3, 5}, {8, 8}, {1, 2}};
    for (const OperatorEnsemble ensemble :
         {OperatorEnsemble::hadamard, OperatorEnsemble::dct, OperatorEnsemble::fourier}) {
        expect_products(Operator::random(Structure::blocks(shapes), ensemble, 7));
        expect_products(Operator::random(Structure::repeated(5, 9, 3), ensemble, 7));
    }
}

TEST(Formula, SignsOfColumnsAndAnyScaleAreApplied) {
    for (const FormulaKind kind : {FormulaKind::hadamard, FormulaKind::dct, FormulaKind::fourier}) {
        BlockFormula f{.rows = {0, 2, 3, 6},
                       .flipped = {true, false, false, true, true, false, true},
                       .scale = -2.5F};
        const Structure s = Structure::dense(4, 7);
        const Operator op = Operator::from_formula(s, {kind, {f}});
        expect_products(op);
        BlockFormula plain = f;
        plain.flipped.clear();
        plain.scale = 1;
        const Operator unit = Operator::from_formula(s, {kind, {plain}});
        for (std::size_t l = 0; l < op.values().size(); ++l)
            EXPECT_FLOAT_EQ(op.values()[l], (f.flipped[l / 4] ? 2.5F : -2.5F) * unit.values()[l]);
    }
}

TEST(Formula, TheComplexTransformHasProductsOfItsOwn) {
    for (const std::size_t n : {1u, 2u, 7u, 16u, 600u}) {
        std::vector<std::uint32_t> rows;
        for (std::uint32_t r = 0; r < 2 * n; r += 1 + r % 3) rows.push_back(r);
        const Structure s = Structure::dense(rows.size(), 2 * n);
        BlockFormula f{.rows = rows, .scale = 1.5F};
        expect_products(Operator::from_formula(s, {FormulaKind::dft, {f}}));
        f.flipped.resize(2 * n);
        for (std::size_t j = 0; j < 2 * n; ++j) f.flipped[j] = j % 3 == 1;
        expect_products(Operator::from_formula(s, {FormulaKind::dft, {f}}));
    }
}

TEST(Formula, TheWorkOfATransformGrowsWithThePrimesOfItsLength) {
    EXPECT_EQ(fft_work(1), 0u);
    EXPECT_EQ(fft_work(1024), 1024u * 20);
    EXPECT_EQ(fft_work(97), 97u * 97);
    EXPECT_EQ(fft_work(60), 60u * 12);
}

TEST(Formula, ThatDoesNotFitIsRefused) {
    const auto refusal = [](const Structure& s, OperatorFormula formula) -> std::string {
        try {
            Operator::from_formula(s, std::move(formula));
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::input);
            EXPECT_FALSE(error.hint().empty());
            return error.message();
        }
        ADD_FAILURE() << "accepted";
        return {};
    };
    const Structure s = Structure::dense(2, 5);
    using enum FormulaKind;
    EXPECT_EQ(refusal(s, {dct, {}}), "a formula 'dct' of 0 parts for a structure of 1");
    EXPECT_EQ(refusal(s, {dct, {{.rows = {1}}}}),
              "part 0 of a formula 'dct': it has 1 rows, its block 2");
    EXPECT_EQ(refusal(s, {dct, {{.rows = {1, 5}}}}),
              "part 0 of a formula 'dct': row 1 is 5, not an ascending number below 5");
    EXPECT_EQ(refusal(s, {hadamard, {{.rows = {1, 1}}}}),
              "part 0 of a formula 'hadamard': row 1 is 1, not an ascending number below 8");
    EXPECT_EQ(refusal(s, {fourier, {{.rows = {1, 2}, .flipped = {true}}}}),
              "part 0 of a formula 'fourier': it has 1 signs for 5 columns");
    EXPECT_EQ(refusal(s, {fourier, {{.rows = {1, 2}, .scale = INFINITY}}}),
              "part 0 of a formula 'fourier': its scale is inf");
    EXPECT_EQ(refusal(s, {convolution, {{.taps = {1, 2, 3}, .first = 0}}}),
              "part 0 of a formula 'convolution': 3 taps from diagonal 0 on do not fit 2 x 5");
    EXPECT_EQ(refusal(s, {convolution, {{.taps = {1}, .first = -5}}}),
              "part 0 of a formula 'convolution': 1 taps from diagonal -5 on do not fit 2 x 5");
    EXPECT_EQ(refusal(s, {convolution, {{}}}),
              "part 0 of a formula 'convolution': 0 taps from diagonal 0 on do not fit 2 x 5");
    EXPECT_EQ(refusal(s, {convolution, {{.taps = {1, NAN}, .first = 0}}}),
              "part 0 of a formula 'convolution': tap 1 is nan");
    const Structure mask = Structure::mask(2, 2, {0, 1, 2}, {0, 1});
    EXPECT_EQ(refusal(mask, {dct, {{.rows = {0, 1}}}}),
              "part 0 of a formula 'dct': a transform has no zeros to leave out");
    EXPECT_EQ(refusal(mask, {convolution, {{.taps = {1, 1}, .first = 0}}}),
              "part 0 of a formula 'convolution': its taps have another pattern than the mask");
}

TEST(Formula, AConvolutionIsAMaskOfItsTaps) {
    const Operator op = Operator::convolution(4, 3, {1, 0, -2}, -1);
    const Matrix<float> a = op.to_dense();
    const float expected[4][3] = {{0, 1, 0}, {-2, 0, 1}, {0, -2, 0}, {0, 0, -2}};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(a(i, j), expected[i][j]) << i << ", " << j;
    EXPECT_EQ(op.structure().links(), 5u);
    EXPECT_EQ(convolution_links(op.formula()->parts[0], 4, 3), 5);
}

TEST(Formula, ConstantDiagonalsAreFoundInDenseRepeatedBlockAndSparseEntries) {
    const Operator op = toeplitz(9, 7, 5, -1);
    const Matrix<float> a = op.to_dense();
    const auto taps = [](const Operator& found) {
        return found.formula() ? found.formula()->parts : std::vector<BlockFormula>{};
    };
    const auto expected = op.formula()->parts;
    EXPECT_EQ(taps(Operator::from_dense(a)), expected);
    EXPECT_EQ(taps(Operator::from_sparse(a)), expected);
    const Operator dense = Operator::from_dense(a);
    const AlignedBuffer<float> values(dense.values().begin(), dense.values().end());
    EXPECT_EQ(taps(Operator(Structure::repeated(9, 7, 3), values)), expected);
    AlignedBuffer<float> twice = values;
    twice.insert(twice.end(), values.begin(), values.end());
    const std::vector<Shape> shapes{{9, 7}, {9, 7}};
    EXPECT_EQ(taps(Operator(Structure::blocks(shapes), twice)),
              (std::vector<BlockFormula>{expected[0], expected[0]}));
    // Values are those that were given, zeros inside included.
    const Operator gap = Operator::from_dense(Operator::convolution(9, 7, {1, 0, 2}, 0).to_dense());
    EXPECT_EQ(taps(gap).at(0).taps, (std::vector<float>{1, 0, 2}));
}

TEST(Formula, NothingIsFoundWhereItIsNotThere) {
    Matrix<float> a = toeplitz(9, 7, 5, -1).to_dense();
    a(8, 6) += 1e-6F;
    EXPECT_EQ(Operator::from_dense(a).formula(), nullptr);
    EXPECT_EQ(Operator::from_sparse(a).formula(), nullptr);
    // A link of the pattern is missing.
    a = toeplitz(9, 7, 5, -1).to_dense();
    a(4, 3) = 0;
    EXPECT_EQ(Operator::from_sparse(a).formula(), nullptr);
    // As many taps as entries spare nothing.
    EXPECT_EQ(Operator::from_dense(Matrix<float>(1, 6)).formula(), nullptr);
    Matrix<float> row(1, 3);
    row(0, 0) = row(0, 1) = row(0, 2) = 1;
    EXPECT_EQ(Operator::from_dense(row).formula(), nullptr);
    // A link of a mask that holds a zero has no place in a pattern of taps.
    EXPECT_EQ(Operator(Structure::mask(2, 2, {0, 2, 4}, {0, 1, 0, 1}), {1, 0, 0, 1}).formula(),
              nullptr);
}

TEST(Formula, ZeroOneEntriesAreKnown) {
    const auto is = [](AlignedBuffer<float> values) {
        const std::size_t n = values.size();
        return Operator(Structure::dense(1, n), std::move(values)).is_zero_one();
    };
    EXPECT_TRUE(is({0, 2, 0, 2}));
    EXPECT_TRUE(is({-3, 0}));
    EXPECT_FALSE(is({0, 1, -1}));
    EXPECT_FALSE(is({1, 1}));
    EXPECT_FALSE(is({0, 0}));
    EXPECT_FALSE(is({0, 1, 1.0001F}));
}

}  // namespace
}  // namespace pibinn
