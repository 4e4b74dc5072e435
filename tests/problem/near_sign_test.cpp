#include "problem/near_sign.hpp"

#include <gtest/gtest.h>

#include "pibinn/random.hpp"

namespace pibinn {
namespace {

Operator signs(std::size_t m = 10, std::size_t n = 20) {
    Stream stream(1, Purpose::tests);
    Matrix<float> a(m, n);
    for (float& v : a.values()) v = stream.bernoulli(0.5) ? 0.5F : -0.5F;
    return Operator::from_dense(a);
}

Matrix<float> changed(std::size_t i, std::size_t j, float value) {
    Matrix<float> a = signs().to_dense();
    a(i, j) = value;
    return a;
}

TEST(NearSign, AFewOtherEntriesAreNamedAndCounted) {
    EXPECT_EQ(near_sign_warning(changed(3, 7, -0.625F)),
              "the operator is nearly +-0.5: 1 of its 200 entries is not, such as -0.625 in row 3, "
              "column 7; round them, and one bit per entry stores it instead of 32");
    Matrix<float> a = changed(3, 7, -0.625F);
    a(0, 1) = 0.25F;
    a(9, 19) = 0.75F;
    a(4, 4) = 0.5625F;
    a(5, 5) = 0.50001F;  // the same but for rounding
    EXPECT_EQ(near_sign_warning(a),
              "the operator is nearly +-0.5: 4 of its 200 entries are not, such as 0.25 in row 0, "
              "column 1; 0.75 in row 9, column 19; -0.625 in row 3, column 7; round them, and one "
              "bit per entry stores it instead of 32");
}

TEST(NearSign, AFewZerosAreNamed) {
    Matrix<float> a = changed(3, 7, 0.0F);
    EXPECT_EQ(near_sign_warning(a),
              "the operator is nearly +-0.5: 1 of its 200 entries is not, such as 0 in row 3, "
              "column 7; round them, and one bit per entry stores it instead of 32");
    a(9, 19) = 0.55F;
    EXPECT_NE(near_sign_warning(a).find("2 of its 200 entries are not, such as 0 in row 3, column "
                                        "7; 0.55 in row 9, column 19"),
              std::string::npos);
}

TEST(NearSign, EntriesThatDifferByRoundingOrByAFewPerCentAreNamedToo) {
    EXPECT_EQ(
        near_sign_warning(changed(2, 2, 0.50001F)),
        "the operator is nearly +-0.5: 1 of its 200 entries is not, such as 0.50001 in row 2, "
        "column 2; round them, and one bit per entry stores it instead of 32");
    Matrix<float> a = signs().to_dense();
    Stream stream(2, Purpose::tests);
    for (float& v : a.values()) v *= static_cast<float>(0.97 + 0.06 * stream.uniform());
    EXPECT_NE(near_sign_warning(a), "");
}

TEST(NearSign, OtherOperatorsAreLeftAlone) {
    EXPECT_EQ(near_sign_warning(signs()), "") << "signs";
    for (const OperatorEnsemble ensemble :
         {OperatorEnsemble::gaussian, OperatorEnsemble::bernoulli, OperatorEnsemble::dct,
          OperatorEnsemble::fourier, OperatorEnsemble::hadamard})
        EXPECT_EQ(near_sign_warning(Operator::random(Structure::dense(20, 40), ensemble, 1)), "");
    // One entry in nine is more than a tenth.
    Matrix<float> a = signs().to_dense();
    for (std::size_t i = 0; i < 200; i += 9) a.values()[i] = 0.75F;
    EXPECT_EQ(near_sign_warning(a), "");
    Matrix<float> few(1, 3);
    few(0, 0) = 1;
    few(0, 1) = -1;
    few(0, 2) = 1.01F;
    EXPECT_EQ(near_sign_warning(few), "") << "three entries may be alike by chance";
}

TEST(NearSign, RepetitionsAreCountedOnce) {
    const Operator one = Operator::from_dense(changed(3, 7, -0.625F));
    const Operator op(Structure::repeated(10, 20, 3), {one.values().begin(), one.values().end()});
    EXPECT_NE(near_sign_warning(op).find("1 of its 200 entries is not"), std::string::npos);
}

TEST(NearSign, AUsersProblemIsWarnedOf) {
    ArrayProblem arrays;
    arrays.op = changed(3, 7, -0.625F);
    Batch x(20, 20);
    for (std::size_t i = 0; i < 20; ++i) x(i, i) = 1;
    arrays.x = std::move(x);
    EXPECT_EQ(Problem::from_arrays(arrays).warnings,
              (std::vector<std::string>{near_sign_warning(arrays.op)}));
    arrays.op = signs();
    EXPECT_TRUE(Problem::from_arrays(arrays).warnings.empty());
}

}  // namespace
}  // namespace pibinn
