#include "problem/common_mean.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "model/cases.hpp"
#include "pibinn/basis.hpp"
#include "pibinn/error.hpp"
#include "problem/random_mask.hpp"

namespace pibinn {
namespace {

Operator drawn(OperatorEnsemble ensemble, const Structure& structure = Structure::dense(50, 100)) {
    return Operator::random(structure, ensemble, 3);
}

/// Numbers of one sign, as a user's matrix may hold them.
Operator positive(std::size_t m, std::size_t n) {
    Matrix<float> a(m, n);
    Stream stream(5, Purpose::tests);
    for (float& v : a.values()) v = static_cast<float>(stream.uniform());
    return a;
}

TEST(CommonMean, IsFoundInZerosAndOnesAndInPositiveNumbers) {
    EXPECT_TRUE(has_common_mean(drawn(OperatorEnsemble::bernoulli)));
    EXPECT_TRUE(has_common_mean(positive(50, 100)));  // three quarters of the energy are means
    EXPECT_TRUE(
        has_common_mean(drawn(OperatorEnsemble::bernoulli, Structure::repeated(20, 40, 3))));
    EXPECT_TRUE(
        has_common_mean(drawn(OperatorEnsemble::binary_sparse, random_columns(60, 120, 4, 3))));
}

TEST(CommonMean, IsNotFoundWhereNobodyPutOne) {
    for (const auto ensemble :
         {OperatorEnsemble::gaussian, OperatorEnsemble::gaussian_unit, OperatorEnsemble::rademacher,
          OperatorEnsemble::hadamard, OperatorEnsemble::dct, OperatorEnsemble::fourier})
        EXPECT_FALSE(has_common_mean(drawn(ensemble))) << to_string(ensemble);
}

TEST(CommonMean, IsFoundInConvolutionsOfZerosAndOnesAndInABasis) {
    Stream stream(7, Purpose::tests);
    std::vector<float> taps(50 + 100 - 1);
    for (float& tap : taps) tap = stream.uniform() < 0.5 ? 1.0F : 0.0F;
    Matrix<float> toeplitz(50, 100);
    for (std::size_t i = 0; i < 50; ++i)
        for (std::size_t j = 0; j < 100; ++j) toeplitz(i, j) = taps[i + 99 - j];
    EXPECT_TRUE(has_common_mean(toeplitz));
    // The constant vector of a basis is nearly all mean, and is measured by what is left.
    const Matrix<float> masks = drawn(OperatorEnsemble::bernoulli).to_dense();
    const Basis basis = Basis::named(BasisKind::dct, 100);
    ThreadPool pool(1);
    const Batch in_basis = basis.to_coefficients(masks, pool);
    EXPECT_TRUE(has_common_mean(in_basis));
}

TEST(CommonMean, IsLeftWhereItIsNotAlone) {
    Matrix<float> a = drawn(OperatorEnsemble::bernoulli).to_dense();
    for (std::size_t i = 0; i < a.rows(); ++i) a(i, 7) = 0.2F;  // of a constant nothing would stay
    EXPECT_FALSE(has_common_mean(a));
    EXPECT_FALSE(has_common_mean(drawn(OperatorEnsemble::bernoulli, Structure::dense(9, 20))));
    EXPECT_FALSE(has_common_mean(Operator::convolution(80, 64, std::vector<float>(17, 1.0F), 0)));
    EXPECT_FALSE(has_common_mean(testing::some_complex_operator(40, 60)));
    // A blur of 5 x 5 on pictures of 16 x 16 is as long in many directions.
    Matrix<float> blur(256, 256);
    for (std::size_t i = 0; i < 256; ++i)
        for (std::size_t j = 0; j < 256; ++j) {
            const auto apart = [](std::size_t p, std::size_t q) { return p > q ? p - q : q - p; };
            if (apart(i / 16, j / 16) <= 2 && apart(i % 16, j % 16) <= 2) blur(i, j) = 0.2F;
        }
    EXPECT_FALSE(has_common_mean(Operator::from_sparse(blur)));
}

TEST(CommonMean, IsNotTakenOffWhereNothingWouldStay) {
    Matrix<float> constant(12, 5);
    for (float& v : constant.values()) v = 0.3F;
    EXPECT_THROW(require_centre(constant), Error);
    EXPECT_THROW(require_centre(testing::some_complex_operator(40, 60)), Error);
    EXPECT_NO_THROW(require_centre(drawn(OperatorEnsemble::bernoulli)));
}

TEST(CommonMean, LeavesSignsOfZerosAndOnesToStartFrom) {
    const Operator op = drawn(OperatorEnsemble::bernoulli);
    const float half = 0.5F * *std::ranges::max_element(op.values());
    for (const float v : starting_links(op, true)) EXPECT_EQ(std::abs(v), half);
    // Whatever two values a column has.
    Matrix<float> two(20, 30);
    Stream stream(3, Purpose::tests);
    for (std::size_t j = 0; j < 30; ++j) {
        const auto low = static_cast<float>(stream.normal());
        const auto high = static_cast<float>(stream.normal());
        for (std::size_t i = 0; i < 20; ++i) two(i, j) = (i + j) % 3 == 0 ? low : high;
    }
    const std::vector<float> levelled = starting_links(two, true);
    for (std::size_t l = 0; l < levelled.size(); ++l)
        EXPECT_EQ(std::abs(levelled[l]), std::abs(levelled[l / 20 * 20]));
}

TEST(CommonMean, TakenOffLeavesTheNormOfTheRest) {
    const Operator op = drawn(OperatorEnsemble::bernoulli);
    Matrix<float> rest = op.to_dense();
    for (std::size_t j = 0; j < rest.cols(); ++j) {
        double mean = 0;
        for (std::size_t i = 0; i < rest.rows(); ++i) mean += rest(i, j);
        for (std::size_t i = 0; i < rest.rows(); ++i)
            rest(i, j) -= static_cast<float>(mean / static_cast<double>(rest.rows()));
    }
    const Operator centred(rest);
    EXPECT_NEAR(centred_squared_norm(op), centred.squared_norm(), 0.02 * centred.squared_norm());
    EXPECT_LT(centred_squared_norm(op), 0.2 * op.squared_norm());
    EXPECT_NEAR(column_energy(op, true), column_energy(centred, false), 1e-5);
    EXPECT_NEAR(column_energy(op, false), 1, 0.1);
}

}  // namespace
}  // namespace pibinn
