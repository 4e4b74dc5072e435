#include <complex>

#include <gtest/gtest.h>

#include "pibinn/complex_rows.hpp"
#include "pibinn/error.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/random.hpp"

namespace pibinn {
namespace {

using SingleComplex = std::complex<float>;

constexpr std::size_t kComplexM = 5, kComplexN = 8, kComplexRows = 19;

Matrix<SingleComplex> drawn_single(std::size_t rows, std::size_t cols, std::uint64_t seed) {
    Stream stream(seed, Purpose::tests);
    Matrix<SingleComplex> a(rows, cols);
    for (SingleComplex& v : a.values())
        v = {static_cast<float>(stream.normal()), static_cast<float>(stream.normal())};
    return a;
}

TEST(ComplexOperator, IsTheComplexProduct) {
    const Matrix<SingleComplex> a = drawn_single(kComplexM, kComplexN, 1);
    const Matrix<SingleComplex> x = drawn_single(kComplexRows, 2 * kComplexN, 2);
    ThreadPool pool(1);
    const Operator op = Operator::from_complex(a, 2);
    const auto y = join_complex(op.apply(split_complex(x, 2), pool), 2);
    const auto back = join_complex(op.adjoint(split_complex(y, 2), pool), 2);
    const auto wide = [](SingleComplex v) { return std::complex<double>(v.real(), v.imag()); };
    for (std::size_t r = 0; r < kComplexRows; ++r)
        for (std::size_t v = 0; v < 2; ++v) {
            for (std::size_t i = 0; i < kComplexM; ++i) {
                std::complex<double> sum = 0;
                for (std::size_t j = 0; j < kComplexN; ++j)
                    sum += wide(a(i, j)) * wide(x(r, v * kComplexN + j));
                EXPECT_LT(std::abs(sum - wide(y(r, v * kComplexM + i))), 1e-5);
            }
            for (std::size_t j = 0; j < kComplexN; ++j) {
                std::complex<double> sum = 0;
                for (std::size_t i = 0; i < kComplexM; ++i)
                    sum += std::conj(wide(a(i, j))) * wide(y(r, v * kComplexM + i));
                EXPECT_LT(std::abs(sum - wide(back(r, v * kComplexN + j))), 1e-4);
            }
        }
}

TEST(ComplexOperator, IsMadeOfBothParts) {
    const Matrix<SingleComplex> a = drawn_single(3, 4, 1);
    Matrix<float> re(3, 4), im(3, 4), narrow(3, 3);
    for (std::size_t i = 0; i < a.size(); ++i) {
        re.values()[i] = a.values()[i].real();
        im.values()[i] = a.values()[i].imag();
    }
    const Operator whole = Operator::from_complex(a, 2), parts = Operator::from_complex(re, im, 2);
    EXPECT_EQ(whole.structure(), parts.structure());
    EXPECT_EQ(whole.to_dense(), parts.to_dense());
    EXPECT_EQ(whole.structure(), Structure::complex(3, 4, 2));
    EXPECT_EQ(whole.structure().shared_links(), 24u);
    EXPECT_THROW(Operator::from_complex(re, narrow), Error);
    // The four numbers of an entry are two.
    AlignedBuffer<float> values(parts.values().begin(), parts.values().end());
    values[1] += 1;
    EXPECT_THROW(Operator(parts.structure(), values), Error);
}

}  // namespace
}  // namespace pibinn
