#include "pibinn/operator.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

Structure blocks(std::vector<std::pair<std::size_t, std::size_t>> shapes) {
    return Structure::blocks(shapes);
}

template <class Action>
std::string refusal(Action&& action) {
    try {
        action();
    } catch (const Error& e) {
        EXPECT_NE(e.kind(), ErrorKind::internal);
        EXPECT_FALSE(e.hint().empty());
        return e.message();
    }
    ADD_FAILURE() << "accepted";
    return {};
}

TEST(Operator, GaussianEntriesHaveTheVarianceOfTheirBlock) {
    const Structure s = blocks({{50, 400}, {10, 2000}});
    const Operator op = Operator::random(s, OperatorEnsemble::gaussian, 1);
    for (const Block& b : s.diagonal()) {
        const std::size_t count = b.rows * b.cols;
        double mean = 0;
        double square = 0;
        for (float v : op.values().subspan(b.first_link, count)) {
            mean += v / static_cast<double>(count);
            square += double{v} * v * static_cast<double>(b.rows) / static_cast<double>(count);
        }
        // Five standard errors.
        EXPECT_NEAR(mean, 0, 5 / std::sqrt(static_cast<double>(b.rows * count)));
        EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / static_cast<double>(count)));
    }
}

TEST(Operator, RademacherEntriesAreSignsOfOneMagnitude) {
    const Operator op =
        Operator::random(Structure::dense(16, 500), OperatorEnsemble::rademacher, 2);
    int positive = 0;
    for (float v : op.values()) {
        ASSERT_EQ(std::abs(v), 0.25F);
        positive += v > 0 ? 1 : 0;
    }
    EXPECT_NEAR(positive, 4000, 5 * std::sqrt(8000 * 0.25));
    EXPECT_TRUE(op.is_sign());
}

TEST(Operator, OfAMaskIsScaledByTheLinksOfTheColumn) {
    const Structure s = Structure::mask(4, 2, {0, 1, 5}, {0, 0, 1, 2, 3});
    const Operator op = Operator::random(s, OperatorEnsemble::rademacher, 3);
    EXPECT_EQ(std::abs(op.values()[0]), 1.0F);
    for (std::size_t l = 1; l < 5; ++l) EXPECT_EQ(std::abs(op.values()[l]), 0.5F);
    EXPECT_FALSE(op.is_sign());
}

TEST(Operator, FollowsFromTheSeed) {
    const Structure s = Structure::dense(5, 7);
    const auto values = [&](std::uint64_t seed) {
        const Operator op = Operator::random(s, OperatorEnsemble::gaussian, seed);
        return std::vector<float>(op.values().begin(), op.values().end());
    };
    EXPECT_EQ(values(4), values(4));
    EXPECT_NE(values(4), values(5));
}

TEST(Operator, IsSignNeedsOneMagnitudeAndNoZero) {
    EXPECT_TRUE(Operator(Structure::dense(1, 2), {0.5F, -0.5F}).is_sign());
    EXPECT_FALSE(Operator(Structure::dense(1, 2), {0.5F, -0.25F}).is_sign());
    EXPECT_FALSE(Operator(Structure::dense(1, 2), {0.0F, 0.0F}).is_sign());
}

TEST(Operator, RepeatedHoldsOneBlockOnly) {
    ThreadPool pool(1);
    const Operator op =
        Operator::random(Structure::repeated(50, 100, 100), OperatorEnsemble::gaussian, 6);
    EXPECT_EQ(op.structure().links(), 5000u);
    EXPECT_EQ(op.values().size(), 5000u);
    Batch x(1, 10000);
    x(0, 4217) = 2;  // entry 17 of block 42
    const Batch y = op.apply(x, pool);
    for (std::size_t i = 0; i < 5000; ++i)
        EXPECT_EQ(y(0, i), i / 50 == 42 ? 2 * op.values()[17 * 50 + i % 50] : 0.0F);
}

TEST(Operator, FromDenseKeepsEveryEntry) {
    Matrix<float> a(2, 3);
    for (std::size_t k = 0; k < 6; ++k) a.data()[k] = static_cast<float>(k);
    const Operator op = Operator::from_dense(a);
    EXPECT_EQ(op.to_dense(), a);
    EXPECT_EQ(op.values()[1], 3.0F) << "links go down the columns";
}

TEST(Operator, SurvivesTheWayThroughItsDenseMatrix) {
    for (const Structure& s :
         {Structure::dense(3, 4), Structure::repeated(2, 3, 3), blocks({{1, 2}, {3, 1}})}) {
        const Operator op = Operator::random(s, OperatorEnsemble::gaussian, 7);
        const Operator back = Operator::from_dense(op.to_dense(), s);
        EXPECT_TRUE(std::equal(op.values().begin(), op.values().end(), back.values().begin()));
        EXPECT_EQ(Operator::from_sparse(op.to_dense()).to_dense(), op.to_dense());
    }
}

TEST(Operator, OfFloat64IsDividedBeforeItIsRounded) {
    for (const Structure& s :
         {Structure::dense(3, 4), Structure::repeated(2, 3, 3), blocks({{1, 2}, {3, 1}})}) {
        const Matrix<float> rounded = Operator::random(s, OperatorEnsemble::gaussian, 7).to_dense();
        Matrix<double> a = convert<double>(rounded);
        for (double& v : a.values()) v *= 1 + 1e-9;
        const Operator op = Operator::from_dense(a, s);
        EXPECT_TRUE(op.precise());
        EXPECT_EQ(op.to_dense(), rounded);
        Matrix<double> scaled = a;
        for (double& v : scaled.values()) v *= 3e7;
        const Operator large = Operator::from_dense(scaled, s);
        EXPECT_EQ(large.divided(3e7).to_dense(), op.divided(1).to_dense());
        EXPECT_FALSE(large.divided(3e7).precise());
        const Operator dense = large.without_structure();
        EXPECT_EQ(dense.structure().kind(), StructureKind::dense);
        EXPECT_EQ(dense.divided(3e7).to_dense(), rounded);
        const Operator mask = Operator::from_sparse(scaled);
        EXPECT_EQ(mask.structure().kind(), StructureKind::mask);
        EXPECT_EQ(mask.divided(3e7).to_dense(), rounded);
        EXPECT_FALSE(Operator::from_dense(rounded, s).precise());
    }
}

TEST(Operator, FromDenseNamesTheEntryThatDoesNotFit) {
    Matrix<float> a =
        Operator::random(Structure::repeated(2, 3, 2), OperatorEnsemble::rademacher, 8).to_dense();
    a(1, 4) = 0.5F;
    EXPECT_EQ(
        refusal([&] { Operator::from_dense(a, Structure::repeated(2, 3, 2)); }),
        "the entry of row 1, column 4 is 0.5, but the structure 'repeated' has no link there");
    a(1, 4) = 0;
    a(2, 3) = 9;
    EXPECT_EQ(refusal([&] { Operator::from_dense(a, Structure::repeated(2, 3, 2)); }).substr(0, 39),
              "the entry of row 2, column 3 is 9, but ");
    EXPECT_NO_THROW(Operator::from_dense(a, blocks({{2, 3}, {2, 3}})));
    EXPECT_EQ(refusal([&] { Operator::from_dense(a, Structure::dense(2, 3)); }),
              "the structure is 2 x 3, the matrix 4 x 6");
}

TEST(Operator, FromSparseNamesTheEmptyColumn) {
    Matrix<float> a(2, 3);
    a(0, 0) = a(1, 2) = 1;
    EXPECT_EQ(refusal([&] { Operator::from_sparse(a); }),
              "the mask leaves signal entry (column) 1 without links");
}

TEST(Operator, RefusesWrongCountsAndNotANumber) {
    EXPECT_EQ(refusal([] { Operator(Structure::dense(1, 2), {1.0F}); }),
              "expected 2 operator entries, got 1");
    EXPECT_EQ(refusal([] {
                  Operator(Structure::dense(1, 2), {1.0F, NAN});
              }),
              "operator entry 1 is nan");
    EXPECT_EQ(refusal([] { Operator(Structure::dense(1, 1), {-INFINITY}); }),
              "operator entry 0 is -inf");
}

TEST(Operator, RefusesBatchesThatDoNotFit) {
    ThreadPool pool(1);
    const Operator op =
        Operator::random(Structure::repeated(2, 3, 2), OperatorEnsemble::gaussian, 9);
    EXPECT_EQ(refusal([&] { op.apply(Batch(1, 5), pool); }),
              "expected 6 entries per signal and 4 per measurement, got 5 and 4");
    EXPECT_EQ(refusal([&] { op.adjoint(Batch(1, 3), pool); }),
              "expected 6 entries per signal and 4 per measurement, got 6 and 3");
    Batch y(3, 4);
    EXPECT_EQ(refusal([&] { op.apply(Batch(2, 6), y, pool); }), "2 signals but 3 measurements");
    const Batch wide(3, 8);
    refusal([&] { op.apply(wide.view().col_range(1, 7), y, pool); });
}

TEST(Operator, SquaredNormIsThatOfTheDecomposition) {
    const Structure mask = Structure::mask(3, 4, {0, 2, 3, 5, 6}, {0, 2, 1, 0, 1, 2});
    for (const Structure& s :
         {Structure::dense(1, 1), Structure::dense(20, 40), Structure::dense(31, 7),
          Structure::repeated(5, 9, 3), blocks({{5, 9}, {4, 4}, {3, 7}}), mask}) {
        const Operator op = Operator::random(s, OperatorEnsemble::gaussian, 10);
        const Matrix<double> a = convert<double>(op.to_dense());
        using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        const Eigen::Map<const RowMajor> e(a.data(), a.rows(), a.cols());
        const double largest = Eigen::JacobiSVD<Eigen::MatrixXd>(e).singularValues()(0);
        EXPECT_NEAR(op.squared_norm() / (largest * largest), 1, 1e-9)
            << to_string(s.kind()) << ' ' << s.rows() << " x " << s.cols();
    }
    EXPECT_EQ(Operator(Structure::dense(2, 2), AlignedBuffer<float>(4, 0.0F)).squared_norm(), 0.0);
}

TEST(Operator, SquaredNormOfManyLinksIsThatOfTheDecompositionToo) {
    const Operator op =
        Operator::random(Structure::dense(1400, 800), OperatorEnsemble::gaussian, 10);
    const Matrix<double> a = convert<double>(op.to_dense());
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> e(a.data(), a.rows(), a.cols());
    const Eigen::MatrixXd gram = e.transpose() * e;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
    EXPECT_NEAR(op.squared_norm() / solver.eigenvalues()(799), 1, 1e-9);

    const Operator ones(Structure::dense(1024, 1030), AlignedBuffer<float>(1024 * 1030, 1.0F));
    EXPECT_NEAR(ones.squared_norm(), 1024.0 * 1030.0, 1e-3);
    const Operator zeros(Structure::dense(1024, 1030), AlignedBuffer<float>(1024 * 1030, 0.0F));
    EXPECT_EQ(zeros.squared_norm(), 0.0);
}

TEST(OperatorEnsemble, IsNamedAsInTheConfiguration) {
    for (const char* name :
         {"gaussian", "rademacher", "hadamard", "bernoulli", "binary-sparse", "dct", "fourier"})
        EXPECT_EQ(to_string(parse_operator_ensemble(name)), name);
    EXPECT_EQ(refusal([] { parse_operator_ensemble("gausian"); }), "unknown operator 'gausian'");
}

TEST(Operator, OfASparseMatrixIsThatOfTheFullOne) {
    // Entries in any order; two of one place are added up, and zeros are left out.
    const SparseMatrix sparse = SparseMatrix::from_entries(
        3, 2, {{2, 1, 7}, {0, 0, 1.5}, {1, 1, 0}, {0, 0, 1}, {1, 0, -1}, {2, 1, -3}}, "A");
    const Operator op = Operator::from_sparse(sparse);
    const Operator full = Operator::from_sparse(sparse.to_dense("A"));
    EXPECT_EQ(op.structure(), full.structure());
    EXPECT_EQ(op.structure().links(), 3u);
    EXPECT_EQ(op.to_dense(), full.to_dense());
    EXPECT_EQ(op.to_dense()(2, 1), 4.0F);
    EXPECT_EQ(op.to_dense()(0, 0), 2.5F);
}

TEST(SparseMatrix, RefusesEntriesBeyondItsShape) {
    using Entries = std::vector<SparseEntry>;
    const auto of = [](std::size_t m, std::size_t n, Entries entries) {
        return refusal([&] { SparseMatrix::from_entries(m, n, std::move(entries), "A"); });
    };
    EXPECT_NE(of(3, 2, {{3, 1, 7}}).find("row 3, column 1 of 3 x 2"), std::string::npos);
    EXPECT_NE(of(3, 2, {{1, 2, 7}}).find("row 1, column 2"), std::string::npos);
    EXPECT_NE(of(3, 2, {{1, 1, 1e39}}).find("1e+39 at row 1, column 1"), std::string::npos);
    EXPECT_NE(of(1U << 30U, 2, {{1, 1, 1}}).find("1073741824 x 2"), std::string::npos);
}

}  // namespace
}  // namespace pibinn
