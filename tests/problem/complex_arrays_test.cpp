#include <complex>

#include <gtest/gtest.h>

#include "core/contains.hpp"
#include "core/test_folder.hpp"
#include "pibinn/error.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/random.hpp"
#include "problem/near_sign.hpp"
#include "problem/units.hpp"

// Problems of complex arrays, and of several vectors per row, against products in float64.

namespace pibinn {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t kM = 4, kN = 6, kRows = 10;

Matrix<Complex> drawn_complex(std::size_t rows, std::size_t cols, std::uint64_t seed) {
    Stream stream(seed, Purpose::tests);
    Matrix<Complex> a(rows, cols);
    for (Complex& v : a.values()) v = {stream.normal(), stream.normal()};
    return a;
}

Matrix<double> real_of(const Matrix<Complex>& a) {
    Matrix<double> re(a.rows(), a.cols());
    for (std::size_t i = 0; i < a.size(); ++i) re.values()[i] = a.values()[i].real();
    return re;
}

Matrix<Complex> complex_of(const Matrix<double>& a) {
    Matrix<Complex> c(a.rows(), a.cols());
    for (std::size_t i = 0; i < a.size(); ++i) c.values()[i] = a.values()[i];
    return c;
}

/// Every vector of every row through A.
Matrix<Complex> measured(const Matrix<Complex>& a, const Matrix<Complex>& x, std::size_t vectors) {
    Matrix<Complex> y(x.rows(), vectors * a.rows());
    for (std::size_t r = 0; r < x.rows(); ++r)
        for (std::size_t v = 0; v < vectors; ++v)
            for (std::size_t i = 0; i < a.rows(); ++i)
                for (std::size_t j = 0; j < a.cols(); ++j)
                    y(r, v * a.rows() + i) += a(i, j) * x(r, v * a.cols() + j);
    return y;
}

/// The rows of y of a problem, training before test, as complex numbers where they are.
void expect_measurements(const Problem& problem, const Matrix<Complex>& expected) {
    const RowLayout rows = problem.domain.measurement_rows();
    std::size_t r = 0;
    for (const DataSet* set : {&problem.train, &problem.test})
        for (std::size_t i = 0; i < set->y.rows(); ++i, ++r) {
            ASSERT_EQ(rows.entries(set->y.cols()), expected.cols());
            const std::size_t m = expected.cols() / rows.vectors;
            for (std::size_t v = 0; v < rows.vectors; ++v)
                for (std::size_t j = 0; j < m; ++j) {
                    const std::size_t at = v * m * (rows.complex ? 2 : 1) + j;
                    const Complex found{set->y(i, at), rows.complex ? set->y(i, at + m) : 0.0F};
                    EXPECT_LT(std::abs(found - expected(r, v * m + j)), 1e-5);
                }
        }
    EXPECT_EQ(r, expected.rows());
}

TEST(ComplexArrays, AreMeasuredAndExplainedAsComplexNumbersAre) {
    for (const bool complex_a : {false, true})
        for (const bool complex_x : {false, true})
            for (const std::size_t vectors : {1UL, 3UL}) {
                const Matrix<Complex> drawn = drawn_complex(kM, kN, 1);
                const Matrix<Complex> a = complex_a ? drawn : complex_of(real_of(drawn));
                const Matrix<Complex> signals = drawn_complex(kRows, vectors * kN, 2);
                const Matrix<Complex> x = complex_x ? signals : complex_of(real_of(signals));
                const Matrix<Complex> y = measured(a, x, vectors);
                const bool complex_y = complex_a || complex_x;
                ArrayProblem arrays;
                arrays.op = complex_a ? Operator::from_complex(a) : Operator(real_of(a));
                arrays.x = complex_x ? UserArray(x) : UserArray(real_of(x));
                arrays.vectors = vectors;
                for (const bool given : {false, true}) {
                    if (given) arrays.y = complex_y ? UserArray(y) : UserArray(real_of(y));
                    const Problem problem = Problem::from_arrays(arrays);
                    EXPECT_EQ(problem.domain.complex, complex_x);
                    EXPECT_EQ(problem.domain.complex_measurements, complex_a && !complex_x);
                    EXPECT_EQ(problem.domain.vectors, vectors);
                    EXPECT_EQ(problem.traits().complex, complex_x || vectors > 1);
                    EXPECT_EQ(problem.op.structure().is_complex(), complex_a && complex_x);
                    EXPECT_EQ(problem.op.structure().repeat(),
                              vectors * (complex_x && !complex_a ? 2 : 1));
                    EXPECT_EQ(problem.op.structure().links(), kM * kN *
                                                                  (!complex_a  ? 1
                                                                   : complex_x ? 4
                                                                               : 2));
                    expect_measurements(problem, y);
                    // Those that are given fit the operator: their residual is rounding.
                    EXPECT_LT(problem.unexplained, 1e-10);
                    EXPECT_TRUE(problem.warnings.empty());
                    EXPECT_EQ(problem.notes.size(), complex_a != complex_x ? 1u : 0u);
                    ASSERT_NE(problem.normalised, nullptr);
                }
            }
}

TEST(ComplexArrays, SayWhatAComplexOperatorOnRealSignalsMeans) {
    ArrayProblem arrays;
    arrays.op = Operator::from_complex(drawn_complex(kM, kN, 1));
    arrays.x = real_of(drawn_complex(kRows, kN, 2));
    const Problem problem = Problem::from_arrays(arrays);
    ASSERT_EQ(problem.notes.size(), 1u);
    EXPECT_PRED2(contains, problem.notes[0], "it measures as [Re A; Im A]");
    EXPECT_EQ(problem.op.rows(), 2 * kM);
    EXPECT_EQ(problem.op.cols(), kN);
}

/// Zero off two blocks and, of a mask, at some more places.
Matrix<Complex> with_zeros(Matrix<Complex> a, StructureKind kind) {
    for (std::size_t i = 0; i < kM; ++i)
        for (std::size_t j = 0; j < kN; ++j)
            if ((i < kM / 2) != (j < kN / 2) || (kind == StructureKind::mask && i % 2 == j % 2))
                a(i, j) = 0;
    return a;
}

TEST(ComplexArrays, AreMeasuredByBlocksAndMasks) {
    const std::vector<std::pair<std::size_t, std::size_t>> shapes(2, {kM / 2, kN / 2});
    const Structure blocks = Structure::blocks(shapes);
    for (const StructureKind kind : {StructureKind::blocks, StructureKind::mask})
        for (const bool complex_a : {false, true})
            for (const bool complex_x : {false, true}) {
                const Matrix<Complex> drawn = with_zeros(drawn_complex(kM, kN, 1), kind);
                const Matrix<Complex> a = complex_a ? drawn : complex_of(real_of(drawn));
                const Matrix<Complex> signals = drawn_complex(kRows, kN, 2);
                const Matrix<Complex> x = complex_x ? signals : complex_of(real_of(signals));
                const Matrix<Complex> y = measured(a, x, 1);
                const bool mask = kind == StructureKind::mask;
                const std::size_t links = kM * kN / (mask ? 4 : 2);
                ArrayProblem arrays;
                if (complex_a)
                    arrays.op = mask ? Operator::from_complex_sparse(a)
                                     : Operator::from_complex(UserArray(a), blocks);
                else
                    arrays.op = mask ? Operator::from_sparse(real_of(a))
                                     : Operator::from_dense(real_of(a), blocks);
                arrays.x = complex_x ? UserArray(x) : UserArray(real_of(x));
                for (const bool given : {false, true}) {
                    if (given)
                        arrays.y = complex_a || complex_x ? UserArray(y) : UserArray(real_of(y));
                    const Problem problem = Problem::from_arrays(arrays);
                    const Structure& s = problem.op.structure();
                    EXPECT_EQ(s.is_complex(), complex_x);
                    EXPECT_EQ(s.has_imaginary(), complex_a && complex_x);
                    // A number that differs is one link.
                    EXPECT_EQ(s.shared_links(), links * (complex_a ? 2 : 1));
                    expect_measurements(problem, y);
                    EXPECT_LT(problem.unexplained, 1e-10);
                    EXPECT_EQ(problem.notes.size(), complex_a != complex_x ? 1u : 0u);
                    ASSERT_NE(problem.normalised, nullptr);
                }
            }
}

TEST(ComplexArrays, OfAMaskWithoutImaginaryPartAreTakenAsReal) {
    const Matrix<double> a = real_of(with_zeros(drawn_complex(kM, kN, 1), StructureKind::mask));
    ArrayProblem arrays;
    arrays.op = Operator::from_complex_sparse(complex_of(a));
    arrays.x = drawn_complex(kRows, kN, 2);
    const Problem problem = Problem::from_arrays(arrays);
    EXPECT_FALSE(problem.op.structure().has_imaginary());
    arrays.op = Operator::from_sparse(a);
    EXPECT_EQ(problem.train.y, Problem::from_arrays(arrays).train.y);
}

TEST(ComplexArrays, HaveNoEntriesOffTheirBlocks) {
    const std::vector<std::pair<std::size_t, std::size_t>> shapes(2, {kM / 2, kN / 2});
    const Error error = error_of([&] {
        Operator::from_complex(UserArray(drawn_complex(kM, kN, 1)), Structure::blocks(shapes));
    });
    EXPECT_PRED2(contains, error.message(), "has no link there");
    EXPECT_THROW(Structure::complex_mask(Structure::complex(2, 2)), Error);
    EXPECT_THROW(Structure::complex_mask(Structure::repeated(2, 2, 2)), Error);
}

TEST(ComplexArrays, TakeAnOperatorWithoutImaginaryPartAsReal) {
    const Matrix<double> a = real_of(drawn_complex(kM, kN, 1));
    ArrayProblem arrays;
    arrays.op = Operator::from_complex(complex_of(a));
    arrays.x = drawn_complex(kRows, kN, 2);
    const Problem problem = Problem::from_arrays(arrays);
    EXPECT_EQ(problem.op.structure(), Structure::repeated(kM, kN, 2));
    EXPECT_TRUE(problem.op.precise());
    ASSERT_EQ(problem.notes.size(), 1u);
    EXPECT_PRED2(contains, problem.notes[0], "taken as real");
    arrays.op = a;
    const Problem real = Problem::from_arrays(arrays);
    EXPECT_EQ(problem.train.y, real.train.y);
}

TEST(ComplexArrays, SayWhatARealOperatorOnComplexSignalsMeans) {
    ArrayProblem arrays;
    arrays.op = real_of(drawn_complex(kM, kN, 1));
    arrays.x = drawn_complex(kRows, kN, 2);
    const Problem problem = Problem::from_arrays(arrays);
    ASSERT_EQ(problem.notes.size(), 1u);
    EXPECT_PRED2(contains, problem.notes[0], "it measures real and imaginary parts alike");
    // Several real vectors per row need no word.
    arrays.x = real_of(drawn_complex(kRows, 2 * kN, 2));
    arrays.vectors = 2;
    EXPECT_TRUE(Problem::from_arrays(arrays).notes.empty());
}

TEST(ComplexArrays, OfAnyUnitAreOneProblemInUnitsOfOne) {
    ArrayProblem arrays;
    const Matrix<Complex> a = drawn_complex(kM, kN, 1), x = drawn_complex(kRows, kN, 2);
    const auto normalised = [&](double unit) {
        Matrix<Complex> scaled_a = a, scaled_x = x;
        for (Complex& v : scaled_a.values()) v *= unit;
        for (Complex& v : scaled_x.values()) v *= unit;
        arrays.op = Operator::from_complex(scaled_a);
        arrays.x = scaled_x;
        return Problem::from_arrays(arrays);
    };
    // Powers of two, whose products are exact: so are the numbers that training sees.
    const Problem one = normalised(1), other = normalised(0x1p-20);
    EXPECT_EQ(data_fingerprint(*one.normalised->problem),
              data_fingerprint(*other.normalised->problem));
}

TEST(ComplexArrays, ThatDoNotGoTogetherAreRefused) {
    const Matrix<Complex> a = drawn_complex(kM, kN, 1), x = drawn_complex(kRows, kN, 2);
    const Matrix<Complex> y = measured(a, x, 1);
    ArrayProblem good;
    good.op = Operator::from_complex(a);
    good.x = x;
    good.x_name = "x.npy";
    good.y_name = "y.npy";
    ASSERT_NO_THROW(Problem::from_arrays(good));
    const auto refused = [&](const auto& change, const char* says, const char* hint) {
        ArrayProblem arrays = good;
        change(arrays);
        const Error error = error_of([&] { Problem::from_arrays(arrays); });
        EXPECT_TRUE(contains(error.message(), says)) << error.what();
        EXPECT_TRUE(contains(error.hint(), hint)) << error.what();
    };
    refused([&](ArrayProblem& p) { p.y = real_of(y); },
            "'y.npy' holds real numbers, but measurements of complex signals by a complex operator "
            "are complex",
            "an imaginary part of zero will do");
    refused(
        [&](ArrayProblem& p) {
            p.x = real_of(x);
            p.y = real_of(y);
        },
        "measurements of real signals by a complex operator are complex", "imaginary part of zero");
    refused(
        [&](ArrayProblem& p) {
            p.op = real_of(a);
            p.x = real_of(x);
            p.y = y;
        },
        "'y.npy' holds complex numbers, but measurements of real signals by a real operator are "
        "real",
        "give the real part");
    refused([&](ArrayProblem& p) { p.x = drawn_complex(kRows, kN + 1, 2); },
            "expected 6 complex signal entries per row, got 7 ('x.npy' is 10 x 7)", "fit");
    refused([&](ArrayProblem& p) { p.y = drawn_complex(kRows, kM + 1, 2); },
            "expected 4 complex measurements per row, got 5 ('y.npy' is 10 x 5)", "fit");
    refused([&](ArrayProblem& p) { p.y = drawn_complex(kRows - 1, kM, 2); },
            "'y.npy' holds 9 measurements, 'x.npy' 10 signals", "row i");
    refused(
        [&](ArrayProblem& p) {
            p.vectors = 4;
            p.x = drawn_complex(kRows, 23, 2);
        },
        "expected 24 complex signal entries per row, 6 for each of 4 vectors, got 23",
        "ArrayProblem::vectors");
    refused([&](ArrayProblem& p) { p.vectors = 0; }, "ArrayProblem::vectors is 0", "1 unless");
    refused([&](ArrayProblem& p) { p.x = Matrix<Complex>(0, kN); }, "it has 0 rows", "one row");
    refused([&](ArrayProblem& p) { p.basis = Basis::named(BasisKind::dct, kN + 1); },
            "ArrayProblem::basis is of 7 numbers", "as many entries as one vector");
    refused(
        [&](ArrayProblem& p) {
            p.op = Operator::from_sparse(real_of(a));
            p.x = drawn_complex(kRows, 2 * kN, 2);
            p.vectors = 2;
        },
        "an operator of structure 'mask' and several vectors per row", "Operator::from_dense");
    refused([&](ArrayProblem& p) { p.op = Operator::from_complex(a, 2); },
            "an operator that is repeated 2 times, and complex signals",
            "ArrayProblem::vectors = 2");
    EXPECT_THROW(Operator::from_complex(UserArray(real_of(a))), Error);
}

TEST(ComplexArrays, AreWarnedOfEntriesThatAreNearlySigns) {
    Stream stream(3, Purpose::tests);
    Matrix<Complex> a(kM, kN);
    const auto sign = [&] { return stream.bernoulli(0.5) ? 0.5 : -0.5; };
    for (Complex& v : a.values()) v = {sign(), sign()};
    EXPECT_EQ(near_sign_warning(Operator::from_complex(a)), "");
    a(2, 3) = {a(2, 3).real(), 0.7};
    const std::string warning = near_sign_warning(Operator::from_complex(a));
    EXPECT_PRED2(contains, warning, "nearly +-0.5 +-0.5j: 1 of its 48 numbers is not");
    EXPECT_PRED2(contains, warning, "0.7 in row 2, column 3 (imaginary part)");
    EXPECT_PRED2(contains, warning, "two bits per entry store it instead of 64");
}

}  // namespace
}  // namespace pibinn
