#include "pibinn/packed_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "infer/count_allocations.hpp"
#include "model/cases.hpp"
#include "model/model_parameters.hpp"
#include "model/reference.hpp"
#include "pibinn/error.hpp"

namespace pibinn {
namespace {

using testing::allocations;
using testing::some_mask;
using testing::some_structure;

struct Case {
    std::string name;
    Structure structure;
    NetworkSpec spec;
};

NetworkSpec spec_of(WeightKind weights, Update update, Activation activation = Activation::soft,
                    double delta = 1.0) {
    NetworkSpec spec;
    spec.layers = 5;
    spec.weights = weights;
    spec.update = update;
    spec.activation = activation;
    spec.delta = delta;
    return spec;
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all = [] {
        std::vector<Case> list;
        const auto add = [&list](const std::string& name, Structure structure, NetworkSpec spec) {
            list.push_back({name, std::move(structure), spec});
        };
        for (auto kind : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                          StructureKind::mask})
            for (auto weights : {WeightKind::one_bit, WeightKind::one_bit_layer,
                                 WeightKind::one_bit_channel, WeightKind::ternary})
                for (auto update : {Update::plain(), Update::accelerated()})
                    add(fmt::format("{} {} {}", to_string(kind), to_string(weights),
                                    to_string(update)),
                        some_structure(kind), spec_of(weights, update));
        for (auto activation : {Activation::hard, Activation::relu})
            for (const auto& structure : {Structure::dense(13, 21), some_mask(11, 17)})
                add(fmt::format("{}", to_string(activation)), structure,
                    spec_of(WeightKind::one_bit, Update::plain(), activation));
        add("hard accelerated", Structure::dense(13, 21),
            spec_of(WeightKind::one_bit, Update::accelerated(), Activation::hard));
        add("delta", Structure::dense(13, 21),
            spec_of(WeightKind::one_bit, Update::plain(), Activation::soft, 0.7));
        for (int bits = 1; bits < 7; ++bits)
            add(fmt::format("update {}", bits), Structure::dense(13, 21),
                spec_of(WeightKind::one_bit,
                        Update{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}));
        // Factors that take all of a misfit off, or turn it round.
        for (const auto& structure : {Structure::dense(13, 21), some_mask(11, 17)})
            add("odd momentum", structure, spec_of(WeightKind::one_bit, Update::accelerated()));
        // Factors of x so small that its unit cannot follow them, and units that go far from 1 in
        // so many layers: up by delta, down by momentum.
        for (auto activation : {Activation::soft, Activation::hard, Activation::relu})
            for (const auto& structure : {Structure::dense(13, 21), some_mask(11, 17)})
                add("small delta", structure,
                    spec_of(WeightKind::one_bit_channel, {false, true, false}, activation, 0.05));
        for (const auto& structure : {Structure::dense(50, 70), some_mask(11, 17)}) {
            NetworkSpec deep = spec_of(WeightKind::one_bit, Update::plain(), Activation::soft, 0.5);
            deep.layers = 40;
            add("deep", structure, deep);
            deep.delta = 0.7;
            deep.update.momentum = true;
            add("deep momentum", structure, deep);
            deep.update = Update::accelerated();
            add("deep momentum", structure, deep);
        }
        // Zeros at a threshold of -0, which are as dead as at one of 0.
        for (auto update : {Update{false, true, false}, Update::accelerated()})
            add("no threshold", Structure::dense(13, 40), spec_of(WeightKind::ternary, update));
        // One row, one column, whole and broken groups, words and vectors; more rows than are
        // summed in registers; more words than have their tables made at a time.
        for (auto [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{{1, 1},
                                                                            {1, 40},
                                                                            {3, 1},
                                                                            {5, 16},
                                                                            {29, 33},
                                                                            {30, 64},
                                                                            {31, 65},
                                                                            {50, 100},
                                                                            {61, 17},
                                                                            {129, 70},
                                                                            {200, 130},
                                                                            {333, 65}})
            for (auto weights : {WeightKind::one_bit, WeightKind::ternary})
                for (auto update : {Update::plain(), Update::accelerated()})
                    // Few rows and many columns make the accelerated update blow up, and with it
                    // any rounding.
                    if (n <= 3 * m || update.is_plain())
                        add(fmt::format("{}x{} {} {}", m, n, to_string(weights), to_string(update)),
                            Structure::dense(m, n), spec_of(weights, update));
        // As many columns as a byte can tell apart, and more. Large networks of such weights
        // amplify errors, hence two layers.
        for (auto [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{
                 {40, 256}, {67, 257}, {150, 300}, {150, 520}})
            for (auto update : {Update::plain(), Update::accelerated()}) {
                NetworkSpec wide = spec_of(WeightKind::one_bit, update);
                wide.layers = 2;
                add(fmt::format("{}x{} {}", m, n, to_string(update)), Structure::dense(m, n), wide);
            }
        // So many rows that one chain of additions would round too much.
        NetworkSpec tall = spec_of(WeightKind::one_bit, Update::accelerated());
        tall.layers = 2;
        add("3000x40", Structure::dense(3000, 40), tall);
        // Ternary outputs without links, and nothing that cuts off what rounding would leave there.
        add("dead ternary relu", Structure::dense(13, 40),
            spec_of(WeightKind::ternary, {false, true, true}, Activation::relu));
        // Blocks so small that tiles win.
        add("3x5 repeated", Structure::repeated(3, 5, 9),
            spec_of(WeightKind::one_bit, Update::accelerated()));
        add("130x40 mask", some_mask(130, 40), spec_of(WeightKind::one_bit, Update::accelerated()));
        return list;
    }();
    return all;
}

/// Weights near a scaled operator and moderate thresholds, so that layers stay alive.
Model some_model(const Case& c, std::uint64_t seed) {
    const Operator op = Operator::random(c.structure, OperatorEnsemble::gaussian, seed);
    const auto backend = make_cpu_backend();
    const auto network = make_network(c.spec, op, *backend);
    Model model = untrained_model(c.spec, op, 0.1);
    const ParameterStore p = testing::some_parameters(*network, op, *backend, seed);
    for (std::size_t k = 1; k <= c.spec.layers; ++k)
        model.weights[k - 1].assign(p.weights(k).begin(), p.weights(k).end());
    if (c.name.starts_with("dead") || c.name == "no threshold")
        for (auto& layer : model.weights)
            for (std::size_t l = 0; l < layer.size(); ++l)
                if (l / c.structure.rows() % 5 == 0) layer[l] = 0;
    model.theta.assign(p.theta().begin(), p.theta().end());
    if (c.name == "no threshold") std::ranges::fill(model.theta, -0.0F);
    model.beta.assign(p.beta().begin(), p.beta().end());
    if (c.name == "odd momentum") model.beta = {-1.0F, -1.0F, -1.5F, 0.3F, -1.0F};
    if (c.name == "deep momentum") {
        std::ranges::fill(model.beta, 0.9F);
        for (auto& layer : model.weights)  // or it would blow up
            for (float& w : layer) w *= 0.1F;
    }
    model.omega.assign(p.omega().begin(), p.omega().end());
    return model;
}

Batch some_measurements(const Model& model, std::size_t rows, std::uint64_t seed) {
    Batch x(rows, model.op.cols());
    Stream stream(seed, Purpose::tests, 1);
    for (float& v : x.values())
        v = stream.uniform() < 0.2 ? static_cast<float>(stream.normal()) : 0.0F;
    ThreadPool pool(1);
    return model.op.apply(x, pool);
}

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
