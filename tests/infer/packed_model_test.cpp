#include "pibinn/packed_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

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
        const Batch x = packed.recover_coefficients(y, pool, &layers);
        ASSERT_EQ(layers.size(), expected.size());
        EXPECT_EQ(layers.back(), x);
        for (std::size_t k = 0; k < layers.size(); ++k) {
            double largest = 0;  // of what comes in and out: x is made by differences of y
            for (float v : y.values()) largest = std::max(largest, std::abs(double{v}));
            for (double v : expected[k].values()) largest = std::max(largest, std::abs(v));
            double error = 0;
            for (std::size_t i = 0; i < x.rows(); ++i)
                for (std::size_t j = 0; j < x.cols(); ++j)
                    error = std::max(error, std::abs(expected[k](i, j) - layers[k](i, j)));
            // Roundings of k layers add up like the steps of a random walk.
            const double layers_so_far = std::sqrt(static_cast<double>(k + 1));
            EXPECT_LE(error, PackedModel::kRelativeError * largest * layers_so_far)
                << "in layer " << k + 1;
        }
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
                for (const NetworkSpec& spec :
                     {spec_of(WeightKind::one_bit, Update::accelerated()),
                      testing::learned_spec(WeightKind::tied, Update::accelerated())}) {
                    const Model model = some_model({"", structure, spec}, 3);
                    Batch y = some_measurements(model, rows, 5);
                    y(0, 2) = bad;
                    const Batch x = PackedModel(model, GetParam()).recover_coefficients(y, pool);
                    EXPECT_TRUE(std::ranges::none_of(x.row(0), finite));
                    for (std::size_t i = 1; i < rows; ++i)
                        EXPECT_TRUE(std::ranges::all_of(x.row(i), finite));
                }
            }
}

/// Of the difference and the sum of two infinite rows one is NaN.
TEST_P(EveryKernel, AgreesWithTilesOnWhatIsNotFinite) {
    ThreadPool pool(1);
    const std::string set = GetParam().substr(GetParam().find('/') + 1);
    for (const auto activation : {Activation::soft, Activation::hard, Activation::piecewise})
        for (const std::size_t at : {0U, 1U, 11U}) {
            const Case c{"", Structure::dense(13, 21),
                         spec_of(WeightKind::one_bit, Update::accelerated(), activation)};
            const Model model = some_model(c, 3);
            Batch y = some_measurements(model, 19, 5);
            y(4, at) = y(4, at + 1) = std::numeric_limits<float>::infinity();
            std::vector<Batch> layers, by_tiles;
            (void)PackedModel(model, GetParam()).recover_coefficients(y, pool, &layers);
            (void)PackedModel(model, "tile/" + set).recover_coefficients(y, pool, &by_tiles);
            for (std::size_t k = 0; k < layers.size(); ++k)
                for (std::size_t l = 0; l < layers[k].values().size(); ++l) {
                    const float is = layers[k].values()[l], should = by_tiles[k].values()[l];
                    EXPECT_TRUE(is == should || (std::isnan(is) && std::isnan(should)))
                        << is << " and " << should << " in layer " << k + 1;
                }
        }
}

TEST_P(EveryKernel, RecoversNothingFromNothing) {
    ThreadPool pool(1);
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const Model model = some_model(c, 3);
        const Batch x =
            PackedModel(model, GetParam()).recover_coefficients(Batch(3, model.op.rows()), pool);
        EXPECT_TRUE(std::ranges::all_of(x.values(), [](float v) { return v == 0; }));
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
        // Every kernel of an instruction set gives the same bits as the set's own choice.
        const PackedModel set(model, GetParam().substr(GetParam().find('/') + 1));
        const Batch together = packed.recover_coefficients(y, one);
        EXPECT_EQ(together, packed.recover_coefficients(y, three));
        Batch given(y.rows(), together.cols());
        packed.recover_coefficients(y, given, three);
        EXPECT_EQ(together, given);
        EXPECT_EQ(together, set.recover_coefficients(y, one));
        PackedModel::Workspace workspace(packed);
        Batch alone(y.rows(), together.cols());
        for (std::size_t i = 0; i < y.rows(); ++i)
            packed.recover_coefficients(y.row(i), alone.row(i), workspace);
        EXPECT_EQ(together, alone);
        for (std::size_t begin = 0, step = 1; begin < y.rows(); begin += step, step += 2) {
            const std::size_t end = std::min(y.rows(), begin + step);
            packed.recover_coefficients(y.view().row_range(begin, end),
                                        alone.view().row_range(begin, end), workspace);
        }
        EXPECT_EQ(together, alone);
    }
}

/// What polish should find: the float network's, whose layers round otherwise.
TEST_P(EveryKernel, PolishesWhatTheLayersFound) {
    ThreadPool pool(1);
    for (const Case& c : testing::polish_cases()) {
        SCOPED_TRACE(c.name);
        Model model = some_model(c, 3);
        model.cut = {0.2F};
        const Batch y = some_measurements(model, 19, 5);
        const PackedModel packed(model, GetParam());
        std::vector<Batch> layers;
        const Batch x = packed.recover_coefficients(y, pool, &layers);
        EXPECT_EQ(layers.back(), x);
        const Batch expected = recover_coefficients(model, y, pool);
        float largest = 0;
        for (const float v : expected.values()) largest = std::max(largest, std::abs(v));
        for (std::size_t i = 0; i < x.size(); ++i)
            EXPECT_NEAR(x.values()[i], expected.values()[i], 2e-4F * largest) << "entry " << i;
        Batch alone(y.rows(), x.cols());
        PackedModel::Workspace workspace(packed);
        for (std::size_t i = 0; i < y.rows(); ++i)
            packed.recover_coefficients(y.row(i), alone.row(i), workspace);
        EXPECT_EQ(alone, x);
        // It does something, unless any x on the support explains y.
        model.spec.polish = 0;
        model.cut.clear();
        if (c.structure.rows() > 1) {
            EXPECT_NE(PackedModel(model, GetParam()).recover_coefficients(y, pool), x);
        }
    }
}

TEST_P(EveryKernel, PolishNeverLeavesMoreThanTheMeasurements) {
    // Steps beyond the entries of the support, where rounding is all that is left to follow.
    ThreadPool pool(1);
    for (const auto weights : {WeightKind::one_bit, WeightKind::tied}) {
        NetworkSpec spec = testing::learned_spec(weights, Update::accelerated());
        spec.polish = 8;
        Model model = some_model({"", Structure::dense(25, 50), spec}, 3);
        model.cut = {0.999F};
        const Batch y = some_measurements(model, 3000, 5);
        const Batch x = PackedModel(model, GetParam()).recover_coefficients(y, pool);
        const Batch again = model.op.apply(x, pool);
        for (std::size_t i = 0; i < y.rows(); ++i) {
            double left = 0, all = 0;
            for (std::size_t j = 0; j < y.cols(); ++j) {
                left += std::pow(double{y(i, j)} - again(i, j), 2);
                all += std::pow(double{y(i, j)}, 2);
            }
            ASSERT_LE(left, 1.0001 * all) << i;
        }
    }
}

/// A network whose operator holds the largest entries there may be, of both signs.
Model model_of_large_entries(const Case& c, float entry) {
    Model model = some_model(c, 7);
    AlignedBuffer<float> values(model.op.values().begin(), model.op.values().end());
    for (std::size_t l = 0; l < values.size(); ++l)
        if (l % 7 < 4 || c.spec.tied()) values[l] = l % 3 == 0 ? entry : -entry;
    model.op = Operator(model.op.structure(), values);
    return model;
}

constexpr float kLargestEntry = std::numeric_limits<float>::max() / 2;

TEST_P(EveryKernel, GivesARowTheSameBitsBesideRowsThatOverflow) {
    ThreadPool pool(1);
    std::size_t overflows = 0;
    for (std::size_t at = 0; at < cases().size(); at += 4) {
        const Case& c = cases()[at];
        SCOPED_TRACE(c.name);
        const Model model =
            model_of_large_entries(c, c.spec.centre ? kLargestEntry / 2 : kLargestEntry);
        Batch y(21, model.op.rows());
        Stream stream(9, Purpose::tests);
        for (std::size_t i = 0; i < y.rows(); ++i)  // some stay zero throughout, others overflow
            for (float& v : y.row(i))
                v = static_cast<float>(stream.normal()) * (i % 3 == 0   ? 0.0F
                                                           : i % 3 == 1 ? 1e-38F
                                                                        : 1e5F);
        const PackedModel packed(model, GetParam());
        const Batch together = packed.recover_coefficients(y, pool);
        PackedModel::Workspace workspace(packed);
        std::vector<float> alone(together.cols());
        for (std::size_t i = 0; i < y.rows(); ++i) {
            packed.recover_coefficients(y.row(i), alone, workspace);
            for (const float v : alone) overflows += !std::isfinite(v);
            for (std::size_t j = 0; j < alone.size(); ++j)
                EXPECT_TRUE(alone[j] == together(i, j) ||
                            (!std::isfinite(alone[j]) && !std::isfinite(together(i, j))))
                    << "row " << i << ": " << alone[j] << " and " << together(i, j);
        }
    }
    EXPECT_GT(overflows, 0U);
}

TEST(PackedModel, RefusesEntriesWhoseSumsOverflow) {
    const Case& c = cases().front();
    EXPECT_NO_THROW(PackedModel{model_of_large_entries(c, kLargestEntry)});
    try {
        PackedModel{model_of_large_entries(c, std::nextafter(kLargestEntry, INFINITY))};
        ADD_FAILURE() << "no error";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_NE(e.message().find("the operator has 1.7014"), std::string::npos) << e.message();
    }
}

/// Which rows are butterfly rows, in which vector and beside which others, follows from their
/// number.
TEST_P(EveryKernel, AddsUpAnyNumberOfRowsLikeItsInstructionSet) {
    ThreadPool pool(1);
    const std::string set = GetParam().substr(GetParam().find('/') + 1);
    for (std::size_t m = 1; m <= 100; ++m) {
        NetworkSpec spec = spec_of(WeightKind::one_bit, Update::accelerated());
        spec.layers = 3;
        const Model model = some_model({"", Structure::dense(m, 2 * m + 1), spec}, m);
        const Batch y = some_measurements(model, 4, 9);
        const PackedModel packed(model, GetParam());
        const Batch together = packed.recover_coefficients(y, pool);
        EXPECT_EQ(together, PackedModel(model, "tile/" + set).recover_coefficients(y, pool))
            << m << " rows";
        PackedModel::Workspace workspace(packed);
        Batch alone(4, together.cols());
        for (std::size_t i = 0; i < 4; ++i)
            packed.recover_coefficients(y.row(i), alone.row(i), workspace);
        EXPECT_EQ(together, alone) << m << " rows";
    }
}

TEST_P(EveryKernel, AllocatesNothingPerCall) {
    NetworkSpec spec = testing::learned_spec(WeightKind::tied, Update::accelerated());
    spec.polish = 3;
    const Model model = some_model({"", Structure::dense(100, 200), spec}, 1);
    const Batch y = some_measurements(model, 40, 2);
    const PackedModel packed(model, GetParam());
    PackedModel::Workspace workspace(packed);
    Batch x(y.rows(), packed.entries());
    const std::size_t before = allocations;
    packed.recover_coefficients(y.row(0), x.row(0), workspace);
    packed.recover_coefficients(y.view(), x.view(), workspace);
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
        const Batch expected = PackedModel(model).recover_coefficients(y, pool);
        hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~HWY_AVX3_DL);
        const PackedModel without(model);
        hwy::SetSupportedTargetsForTest(0);
        EXPECT_EQ(expected, without.recover_coefficients(y, pool));
    }
}

TEST(PackedModel, OfTwentyOneBitLayersStaysUnderFortyKilobytes) {
    NetworkSpec spec;
    spec.layers = 20;
    const Model model = some_model({"", Structure::dense(50, 100), spec}, 1);
    for (const std::string& kernel : packed_kernels())
        EXPECT_LT(PackedModel(model, kernel).bytes(), 40000U) << kernel;
}

TEST(PackedModel, GivesTheSameBitsFromACopyOfItsBlocks) {
    NetworkSpec spec = spec_of(WeightKind::one_bit, Update::accelerated());
    spec.layers = 2;
    const Model model = some_model({"", Structure::dense(100, 300), spec}, 1);
    const Batch y = some_measurements(model, 400, 2);
    ThreadPool one(1), three(3);
    const PackedModel packed(model);
    ASSERT_GT(packed.bytes(), 100000U);  // so many that threads have copies of their own
    const Batch x = packed.recover_coefficients(y, one);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(packed.recover_coefficients(y, three), x);
}

TEST(PackedModel, TakesABatchOfNoRows) {
    const Model model = some_model({"", Structure::dense(5, 9), {}}, 1);
    ThreadPool pool(2);
    const Batch x = PackedModel(model).recover_coefficients(Batch(0, 5), pool);
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
    const Model model = untrained_model(spec, op, 0.1);
    EXPECT_FALSE(can_be_packed(model));
    EXPECT_THROW(PackedModel{model}, Error);
    spec.weights = WeightKind::tied;  // to an operator that is not of signs
    EXPECT_FALSE(can_be_packed(untrained_model(spec, op, 0.1)));
}

TEST(PackedModel, TiedToSignsStoresThemOnceForAllLayers) {
    NetworkSpec spec = testing::learned_spec(WeightKind::tied, Update::accelerated());
    spec.layers = 1;
    const std::size_t one =
        PackedModel(some_model({"", Structure::dense(64, 128), spec}, 1)).bytes();
    spec.layers = 20;
    const std::size_t all =
        PackedModel(some_model({"", Structure::dense(64, 128), spec}, 1)).bytes();
    EXPECT_LE(all, one + 19 * 100);
}

TEST(PackedModel, ListsTheVectorKernelWhereTheProcessorHasRegistersForTables) {
    const std::vector<std::string> kernels = packed_kernels();
    const auto has = [&](const std::string& name) {
        return std::ranges::find(kernels, name) != kernels.end();
    };
    for (const std::string set : {"AVX3", "AVX2", "NEON"})
        EXPECT_EQ(has("vector/" + set), has(set)) << set;
    for (const std::string set : {"SSE4", "SSSE3", "SCALAR"}) EXPECT_FALSE(has("vector/" + set));
}

}  // namespace
}  // namespace pibinn
