#include <complex>

#include <gtest/gtest.h>

#include "model/model_parameters.hpp"
#include "pibinn/complex_rows.hpp"
#include "pibinn/error.hpp"
#include "pibinn/random.hpp"
#include "pibinn/recoverer.hpp"
#include "reference/reference.hpp"

// Recovery of complex signals: split rows inside, std::complex outside.

namespace pibinn {
namespace {

using Complex = std::complex<float>;

constexpr std::size_t kComplexM = 5, kComplexN = 8, kComplexRows = 19;

Matrix<Complex> drawn(std::size_t rows, std::size_t cols, std::uint64_t seed) {
    Stream stream(seed, Purpose::tests);
    Matrix<Complex> a(rows, cols);
    for (Complex& v : a.values())
        v = {static_cast<float>(stream.normal()), static_cast<float>(stream.normal())};
    return a;
}

Model complex_model(WeightKind weights, std::size_t vectors) {
    NetworkSpec spec;
    spec.layers = 4;
    spec.weights = weights;
    Model model = untrained_model(
        spec, Operator::from_complex(drawn(kComplexM, kComplexN, 1), vectors), 0.02);
    model.domain.complex = true;
    model.domain.vectors = vectors;
    return model;
}

TEST(ComplexRecoverer, TakesAndGivesStdComplexAsTheReferenceDoes) {
    ThreadPool pool(2);
    for (const WeightKind kind : {WeightKind::one_bit, WeightKind::ternary, WeightKind::real})
        for (const std::size_t vectors : {1UL, 3UL}) {
            const Model model = complex_model(kind, vectors);
            const Matrix<Complex> y = drawn(kComplexRows, vectors * kComplexM, 3);
            const auto x = Recoverer(model).complex_signals(y, pool);
            ASSERT_EQ(x.rows(), kComplexRows);
            ASSERT_EQ(x.cols(), vectors * kComplexN);
            const ParameterStore p = parameters_of(model);
            const std::vector<double> numbers(p.values().begin(), p.values().end());
            const auto split = convert<double>(split_complex(y, vectors));
            const Matrix<double> expected =
                reference_layers(model.spec, model.op, p.layout(), numbers, split).back();
            double largest = 0;
            for (std::size_t r = 0; r < kComplexRows; ++r)
                for (std::size_t v = 0; v < vectors; ++v)
                    for (std::size_t j = 0; j < kComplexN; ++j) {
                        const std::size_t at = 2 * v * kComplexN + j;
                        const Complex found = x(r, v * kComplexN + j);
                        EXPECT_NEAR(found.real(), expected(r, at), 1e-4);
                        EXPECT_NEAR(found.imag(), expected(r, at + kComplexN), 1e-4);
                        largest = std::max(largest, double{std::abs(found)});
                    }
            EXPECT_GT(largest, 0.1);
        }
}

TEST(ComplexRecoverer, RefusesWhatDoesNotFit) {
    ThreadPool pool(1);
    const Recoverer recoverer(complex_model(WeightKind::one_bit, 1));
    try {
        recoverer.complex_signals(drawn(2, kComplexM + 1, 3), pool);
        FAIL() << "recovered";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "expected 5 complex measurements per row, got 6");
    }
    Model real = complex_model(WeightKind::one_bit, 1);
    real.domain.complex = false;
    EXPECT_THROW(Recoverer(real).complex_signals(drawn(2, kComplexM, 3), pool), Error);
}

}  // namespace
}  // namespace pibinn
