#include "problem/common_mean.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "model/cases.hpp"
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

TEST(CommonMean, IsLeftWhereItIsNearlyAllThereIs) {
    Matrix<float> a = drawn(OperatorEnsemble::bernoulli).to_dense();
    for (std::size_t i = 0; i < a.rows(); ++i) a(i, 7) = 0.2F;  // of a constant nothing would stay
    EXPECT_FALSE(has_common_mean(a));
    EXPECT_FALSE(has_common_mean(drawn(OperatorEnsemble::bernoulli, Structure::dense(9, 20))));
    EXPECT_FALSE(has_common_mean(Operator::convolution(80, 64, std::vector<float>(17, 1.0F), 0)));
    EXPECT_FALSE(has_common_mean(testing::some_complex_operator(40, 60)));
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
