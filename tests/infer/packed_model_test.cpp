#include "pibinn/packed_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "infer/count_allocations.hpp"
#include "infer/packed_cases.hpp"
#include "model/cases.hpp"
#include "model/model_parameters.hpp"
#include "pibinn/error.hpp"
#include "reference/reference.hpp"

namespace pibinn {
namespace {

using testing::allocations;
using testing::Case;
using testing::cases;
using testing::some_mask;
using testing::some_measurements;
using testing::some_model;
using testing::some_structure;
using testing::spec_of;

class EveryKernel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryKernel, RecoversWhatFloat64Does) {
    ThreadPool pool(1);
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const Model model = some_model(c, 3);
        const Batch y = some_measurements(model, 19, 5);
        const ParameterStore p = parameters_of(model);
        const auto expected = reference_layers(model.spec, model.op, p.layout(),
                                               testing::as_double(p.values()), convert<double>(y));
        std::vector<Batch> layers;
        const PackedModel packed(model, GetParam());
        const Batch x = packed.recover(y, pool, &layers);
        ASSERT_EQ(layers.size(), expected.size());
        EXPECT_EQ(layers.back(), x);
        // A hard threshold and the Onsager term's count jump where an entry stands at its
        // threshold, which in 16 bits may be on its other side: such rows are left out from there
        // on.
        const bool jumps = GetParam().starts_with("vector16/") &&
                           (c.spec.activation == Activation::hard || c.spec.update.onsager);
        if (jumps && c.spec.layers > 30) continue;  // most rows do, somewhere in so many layers
        std::vector<bool> left_out(x.rows());
        for (std::size_t k = 0; k < layers.size(); ++k) {
            double largest = 0;  // of what comes in and out: x is made by differences of y
            for (float v : y.values()) largest = std::max(largest, std::abs(double{v}));
            for (double v : expected[k].values()) largest = std::max(largest, std::abs(v));
            for (std::size_t i = 0; i < x.rows(); ++i) {
                double error = 0;
                for (std::size_t j = 0; j < x.cols(); ++j) {
                    const double should = expected[k](i, j);
                    const double is = layers[k](i, j);
                    error = std::max(error, std::abs(should - is));
                    if (jumps && (should != 0) != (is != 0)) left_out[i] = true;
                }
                if (!left_out[i]) {
                    EXPECT_LE(error, packed.relative_error() * largest)
                        << "row " << i << " of layer " << k + 1;
                }
            }
        }
        EXPECT_LE(std::count(left_out.begin(), left_out.end(), true), 4) << "of 19 rows";
    }
}

TEST_P(EveryKernel, DoesNotHideWhatIsNotFinite) {
    ThreadPool pool(1);
    const auto finite = [](float v) { return std::isfinite(v); };
    for (const Structure& structure : {Structure::dense(13, 21), some_mask(13, 21)})
        for (const std::size_t rows : {1U, 16U})
            for (const float bad :
                 {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                  -std::numeric_limits<float>::quiet_NaN()}) {
                const Case c{"", structure, spec_of(WeightKind::one_bit, Update::accelerated())};
                const Model model = some_model(c, 3);
                Batch y = some_measurements(model, rows, 5);
                y(0, 2) = bad;
                const Batch x = PackedModel(model, GetParam()).recover(y, pool);
                EXPECT_TRUE(std::ranges::none_of(x.row(0), finite));
                for (std::size_t i = 1; i < rows; ++i)
                    EXPECT_TRUE(std::ranges::all_of(x.row(i), finite));
            }
}

/// Of two infinite rows that are held as their difference and sum, one is NaN.
TEST_P(EveryKernel, AgreesWithTilesOnWhatIsNotFinite) {
    if (GetParam().starts_with("vector16/")) return;  // rounds: no other gives the same
    ThreadPool pool(1);
    const std::string set = GetParam().substr(GetParam().find('/') + 1);
    for (const auto activation : {Activation::soft, Activation::hard})
        for (const std::size_t at : {0U, 1U, 11U}) {
            const Case c{"", Structure::dense(13, 21),
                         spec_of(WeightKind::one_bit, Update::accelerated(), activation)};
            const Model model = some_model(c, 3);
            Batch y = some_measurements(model, 19, 5);
            y(4, at) = y(4, at + 1) = std::numeric_limits<float>::infinity();
            std::vector<Batch> layers, by_tiles;
            (void)PackedModel(model, GetParam()).recover(y, pool, &layers);
            (void)PackedModel(model, "tile/" + set).recover(y, pool, &by_tiles);
            for (std::size_t k = 0; k < layers.size(); ++k)
                for (std::size_t l = 0; l < layers[k].values().size(); ++l) {
                    const float is = layers[k].values()[l], should = by_tiles[k].values()[l];
                    EXPECT_TRUE(is == should || (std::isnan(is) && std::isnan(should)))
                        << is << " and " << should << " in layer " << k + 1;
                }
        }
}

TEST_P(EveryKernel, GivesARowTheSameBitsInAnyCompany) {
    ThreadPool one(1);
    ThreadPool three(3);
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const Model model = some_model(c, 7);
        const Batch y = some_measurements(model, 67, 9);
        const PackedModel packed(model, GetParam());
        // Every way of an instruction set gives the same bits as the set's own choice, but one.
        const bool rounds_to_16_bits = GetParam().starts_with("vector16/");
        const PackedModel set(model, GetParam().substr(GetParam().find('/') + 1));
        const Batch together = packed.recover(y, one);
        EXPECT_EQ(together, packed.recover(y, three));
        Batch given(y.rows(), together.cols());
        packed.recover(y, given, three);
        EXPECT_EQ(together, given);
        if (!rounds_to_16_bits) {
            EXPECT_EQ(together, set.recover(y, one));
        }
        PackedModel::Workspace workspace(packed);
        Batch alone(y.rows(), together.cols());
        for (std::size_t i = 0; i < y.rows(); ++i)
            packed.recover(y.row(i), alone.row(i), workspace);
        EXPECT_EQ(together, alone);
        for (std::size_t begin = 0, step = 1; begin < y.rows(); begin += step, step += 2) {
            const std::size_t end = std::min(y.rows(), begin + step);
            packed.recover(y.view().row_range(begin, end), alone.view().row_range(begin, end),
                           workspace);
        }
        EXPECT_EQ(together, alone);
    }
}

/// Which rows are held by twos, in which vector and beside which others, follows from their number.
TEST_P(EveryKernel, AddsUpAnyNumberOfRowsLikeItsInstructionSet) {
    ThreadPool pool(1);
    const bool rounds_to_16_bits = GetParam().starts_with("vector16/");
    const std::string set = GetParam().substr(GetParam().find('/') + 1);
    for (std::size_t m = 1; m <= 100; ++m) {
        NetworkSpec spec = spec_of(WeightKind::one_bit, Update::accelerated());
        spec.layers = 3;
        const Model model = some_model({"", Structure::dense(m, 2 * m + 1), spec}, m);
        const Batch y = some_measurements(model, 4, 9);
        const PackedModel packed(model, GetParam());
        const Batch one_way = packed.recover(y, pool);
        if (!rounds_to_16_bits) {
            EXPECT_EQ(one_way, PackedModel(model, "tile/" + set).recover(y, pool)) << m << " rows";
        }
        PackedModel::Workspace workspace(packed);
        Batch alone(4, one_way.cols());
        for (std::size_t i = 0; i < 4; ++i) packed.recover(y.row(i), alone.row(i), workspace);
        EXPECT_EQ(one_way, alone) << m << " rows";
    }
}

TEST_P(EveryKernel, AllocatesNothingPerCall) {
    const Model model = some_model({"", Structure::dense(50, 100), {}}, 1);
    const Batch y = some_measurements(model, 40, 2);
    const PackedModel packed(model, GetParam());
    PackedModel::Workspace workspace(packed);
    Batch x(y.rows(), packed.entries());
    const std::size_t before = allocations;
    packed.recover(y.row(0), x.row(0), workspace);
    packed.recover(y.view(), x.view(), workspace);
    EXPECT_EQ(allocations, before);
}

std::string kernel_test_name(const ::testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    for (char& ch : name)
        if (ch == '/') ch = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(PackedModel, EveryKernel, ::testing::ValuesIn(packed_kernels()),
                         kernel_test_name);

TEST(PackedModel, NeedsNoInstructionThatCompressesBytes) {
    ThreadPool pool(1);
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const Model model = some_model(c, 7);
        const Batch y = some_measurements(model, 5, 9);
        const Batch expected = PackedModel(model).recover(y, pool);
        hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~HWY_AVX3_DL);
        const PackedModel without(model);
        hwy::SetSupportedTargetsForTest(0);
        EXPECT_EQ(expected, without.recover(y, pool));
    }
}

TEST(PackedModel, OfTwentyOneBitLayersStaysUnderFortyKilobytes) {
    NetworkSpec spec;
    spec.layers = 20;
    const Model model = some_model({"", Structure::dense(50, 100), spec}, 1);
    for (const std::string& kernel : packed_kernels())
        if (!kernel.starts_with("vector16/")) {
            EXPECT_LT(PackedModel(model, kernel).bytes(), 40000U) << kernel;
        }
}

TEST(PackedModel, SaysItsErrorAndRoundsToSixteenBitsOnlyWhenAsked) {
    const Model model = some_model({"", Structure::dense(50, 100), {}}, 1);
    EXPECT_EQ(PackedModel(model).relative_error(), 1e-6);
    ThreadPool pool(1);
    const Batch y = some_measurements(model, 8, 2);
    const Batch exact = PackedModel(model).recover(y, pool);
    for (const std::string& kernel : packed_kernels())
        if (kernel.starts_with("vector16/")) {
            const PackedModel rounded(model, kernel);
            EXPECT_EQ(rounded.relative_error(), 1e-3);
            EXPECT_NE(rounded.recover(y, pool), exact);
        }
}

TEST(PackedModel, GivesTheSameBitsFromACopyOfItsParts) {
    NetworkSpec spec = spec_of(WeightKind::one_bit, Update::accelerated());
    spec.layers = 2;
    const Model model = some_model({"", Structure::dense(100, 300), spec}, 1);
    const Batch y = some_measurements(model, 400, 2);
    ThreadPool one(1), three(3);
    const PackedModel packed(model);
    ASSERT_GT(packed.bytes(), 100000U);  // so many that threads have copies of their own
    const Batch x = packed.recover(y, one);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(packed.recover(y, three), x);
}

TEST(PackedModel, TakesABatchOfNoRows) {
    const Model model = some_model({"", Structure::dense(5, 9), {}}, 1);
    ThreadPool pool(2);
    const Batch x = PackedModel(model).recover(Batch(0, 5), pool);
    EXPECT_EQ(x.rows(), 0U);
    EXPECT_EQ(x.cols(), 9U);
}

TEST(PackedModel, KernelsHaveNamesAndAutoIsTheFirst) {
    const Model model = some_model({"", Structure::dense(5, 9), {}}, 1);
    EXPECT_EQ(PackedModel(model).kernel(), packed_kernels().front());
    for (const std::string& kernel : packed_kernels())
        EXPECT_EQ(PackedModel(model, kernel).kernel(), kernel);
    try {
        PackedModel(model, "tile/AVX9");
        FAIL() << "an unknown kernel was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find("'tile/AVX9'"), std::string::npos);
    }
}

TEST(PackedModel, RefusesWhatHasNoSigns) {
    NetworkSpec spec;
    spec.weights = WeightKind::real;
    spec.layers = 2;
    const Operator op = Operator::random(Structure::dense(5, 9), OperatorEnsemble::gaussian, 1);
    EXPECT_FALSE(can_be_packed(spec));
    EXPECT_THROW(PackedModel(untrained_model(spec, op, 0.1)), Error);
}

TEST(PackedModel, RefusesMeasurementsOfAnotherWidth) {
    const Model model = some_model({"", Structure::dense(5, 9), {}}, 1);
    ThreadPool pool(1);
    const PackedModel packed(model);
    EXPECT_THROW(packed.recover(Batch(2, 6), pool), Error);
}

}  // namespace
}  // namespace pibinn
