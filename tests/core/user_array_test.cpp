#include "pibinn/user_array.hpp"

#include <gtest/gtest.h>

namespace pibinn {
namespace {

Matrix<double> thirds() {
    Matrix<double> values(3, 2);
    for (std::size_t i = 0; i < values.size(); ++i)
        values.data()[i] = (static_cast<double>(i) - 2) / 3;
    return values;
}

TEST(UserArray, IsDividedBeforeItIsRounded) {
    const Matrix<double> values = thirds();
    Matrix<double> large = values;
    for (double& v : large.values()) v *= 7.7e8;
    const UserArray array(values), scaled(large);
    EXPECT_TRUE(array.precise());
    EXPECT_EQ(scaled.to_float32(7.7e8), array.to_float32());
    EXPECT_EQ(array.to_float32()(0, 0), static_cast<float>(-2.0 / 3));
    EXPECT_EQ(array(2, 1), 1.0);
}

TEST(UserArray, GivesSomeOfItsRows) {
    const Matrix<double> values = thirds();
    const Batch part = UserArray(values).to_float32(1, 2, 0.5);
    EXPECT_EQ(part.rows(), 2u);
    EXPECT_EQ(part(0, 1), static_cast<float>(2.0 / 3));
    EXPECT_EQ(part(1, 0), static_cast<float>(4.0 / 3));
    EXPECT_EQ(UserArray(values).to_float32(3, 0).rows(), 0u);
}

TEST(UserArray, OfFloat32IsGivenBackAsItCame) {
    Batch values = convert<float>(thirds());
    const Batch expected = values;
    const float* const where = values.data();
    UserArray array(std::move(values));
    EXPECT_FALSE(array.precise());
    EXPECT_EQ(array.to_float32(), expected);
    const Batch back = std::move(array).take_float32();
    EXPECT_EQ(back, expected);
    EXPECT_EQ(back.data(), where) << "not copied";
}

TEST(UserArray, IsEmptyUnlessGiven) {
    const UserArray none;
    EXPECT_EQ(none.rows(), 0u);
    EXPECT_EQ(none.cols(), 0u);
    EXPECT_FALSE(none.precise());
}

}  // namespace
}  // namespace pibinn
