#include "infer/device_recovery.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/cuda_module.hpp"
#include "infer/packed_cases.hpp"
#include "model/cases.hpp"
#include "model/model_parameters.hpp"
#include "pibinn/error.hpp"
#include "pibinn/recoverer.hpp"
#include "reference/reference.hpp"

namespace pibinn {
namespace {

using testing::Case;
using testing::some_measurements;
using testing::some_model;

// Sums on matrix units are cut off, not rounded, and activations have 22 digits.
constexpr double kDeviceError = 4e-6;
constexpr double kHalfError = 4e-3;

bool no_device() { return cuda_device_name().empty(); }

/// Errors of rows, relative to the largest number around: the largest of all layers.
std::vector<double> device_errors(const Model& model, const Batch& y, std::string_view kernel) {
    const ParameterStore p = parameters_of(model);
    const auto expected = reference_layers(model.spec, model.op, p.layout(),
                                           testing::as_double(p.values()), convert<double>(y));
    std::vector<Batch> layers;
    const DeviceModel device(model, kernel);
    const Batch x = device.recover_coefficients(y, &layers);
    EXPECT_EQ(layers.size(), expected.size());
    EXPECT_EQ(layers.back(), x);
    std::vector<double> errors(y.rows(), 0.0);
    for (std::size_t k = 0; k < layers.size(); ++k) {
        double largest = 0;
        for (float v : y.values()) largest = std::max(largest, std::abs(double{v}));
        for (double v : expected[k].values()) largest = std::max(largest, std::abs(v));
        for (std::size_t i = 0; i < x.rows(); ++i)
            for (std::size_t j = 0; j < x.cols(); ++j)
                errors[i] =
                    std::max(errors[i], std::abs(expected[k](i, j) - layers[k](i, j)) / largest /
                                            std::sqrt(static_cast<double>(k + 1)));
    }
    return errors;
}

// Where an entry stands at its threshold, the count of the Onsager term is one more or less:
// float64 itself jumps in one to three of these cases when y changes by 2e-6. Such rows must be
// few, and their jumps small.
TEST(Device, RecoversWhatFloat64Does) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    constexpr std::size_t most_jumps = 4;
    constexpr double largest_jump = 2e-3;
    std::size_t jumps = 0;
    for (const Case& c : testing::cases()) {
        if (!c.spec.entrywise() || c.spec.centre) continue;
        SCOPED_TRACE(c.name);
        const Model model = some_model(c, 3);
        for (const double error : device_errors(model, some_measurements(model, 19, 5), "cuda")) {
            const bool jumps_here = c.spec.update.onsager && error > kDeviceError;
            EXPECT_LE(error, jumps_here ? largest_jump : kDeviceError);
            jumps += jumps_here ? 1 : 0;
        }
    }
    EXPECT_LE(jumps, most_jumps);
}

/// Networks of signs alone, which have a kernel of their own: whole and broken tiles, warps without
/// columns, one row of tiles and many.
std::vector<Case> sign_cases() {
    std::vector<Case> list;
    for (auto [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{
             {256, 512}, {200, 333}, {64, 130}, {57, 104}, {130, 90}, {10, 512}})
        for (const WeightKind weights : {WeightKind::one_bit, WeightKind::tied})
            for (const Activation activation :
                 {Activation::soft, Activation::piecewise, Activation::hard}) {
                // Few rows and many columns make the accelerated update blow up.
                const Update update = n <= 3 * m ? Update::accelerated() : Update::plain();
                NetworkSpec spec = activation == Activation::piecewise
                                       ? testing::learned_spec(weights, update)
                                       : testing::spec_of(weights, update, activation);
                // An entry at a hard threshold jumps by all of it, hence few.
                spec.layers = activation == Activation::hard ? 2 : 3;
                list.push_back(
                    {fmt::format("{}x{} {} {}", m, n, to_string(weights), to_string(activation)),
                     Structure::dense(m, n), spec, testing::Values::sign_operator});
            }
    return list;
}

TEST(Device, RecoversNetworksOfSigns) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    constexpr std::size_t most_jumps = 2;
    constexpr double largest_jump = 2e-3;
    std::size_t jumps = 0;
    for (const Case& c : sign_cases()) {
        SCOPED_TRACE(c.name);
        const Model model = some_model(c, 3);
        EXPECT_EQ(DeviceModel(model, "cuda").kernel(), "cuda/signs");
        EXPECT_EQ(DeviceModel(model, "cuda-half").kernel(), "cuda-half/signs");
        const std::size_t rows = c.spec.activation == Activation::hard ? 5 : 40;
        for (const double error : device_errors(model, some_measurements(model, rows, 5), "cuda")) {
            const bool jumps_here = c.spec.update.onsager && error > kDeviceError;
            EXPECT_LE(error, jumps_here ? largest_jump : kDeviceError);
            jumps += jumps_here ? 1 : 0;
        }
    }
    EXPECT_LE(jumps, most_jumps);
}

TEST(Device, ChoosesTheKernelByShapeAndWeights) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    // One-bit weights on a Gaussian operator, and networks tied to one of signs.
    const auto kernel_of = [](std::size_t m, std::size_t n, WeightKind weights,
                              std::size_t layers) {
        NetworkSpec spec = testing::spec_of(weights, Update::plain());
        spec.layers = layers;
        const Model model = some_model(Case{"kernel", Structure::dense(m, n), spec}, 3);
        return DeviceModel(model, "cuda").kernel();
    };
    EXPECT_EQ(kernel_of(56, 104, WeightKind::tied, 2), "cuda/resident");
    EXPECT_EQ(kernel_of(57, 104, WeightKind::tied, 2), "cuda/signs");
    EXPECT_EQ(kernel_of(57, 104, WeightKind::one_bit, 2), "cuda/layered");
    EXPECT_EQ(kernel_of(257, 512, WeightKind::tied, 2), "cuda/layered");
    EXPECT_EQ(kernel_of(256, 513, WeightKind::tied, 2), "cuda/layered");
    EXPECT_EQ(kernel_of(256, 512, WeightKind::tied, 100), "cuda/signs");
    EXPECT_EQ(kernel_of(256, 512, WeightKind::tied, 200), "cuda/layered");  // numbers do not fit
}

TEST(Device, RecoversFloatWeightsToo) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    for (const auto& structure : {Structure::dense(50, 100), Structure::dense(130, 90),
                                  testing::some_structure(StructureKind::blocks)})
        for (const Activation activation : {Activation::soft, Activation::piecewise}) {
            Case c{"float", structure,
                   testing::spec_of(WeightKind::real, Update::accelerated(), activation)};
            const Model model = some_model(c, 3);
            EXPECT_LE(
                std::ranges::max(device_errors(model, some_measurements(model, 300, 5), "cuda")),
                kDeviceError);
        }
}

TEST(Device, RoundsActivationsToFloat16WhereAskedTo) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    for (const auto& structure : {Structure::dense(50, 100), Structure::dense(130, 90),
                                  Structure::dense(256, 512), Structure::dense(300, 90)}) {
        Case c{"half", structure, testing::learned_spec(WeightKind::tied, Update::accelerated())};
        c.spec.layers = 3;
        const Model model = some_model(c, 3);
        const Batch y = some_measurements(model, 40, 5);
        const double error = std::ranges::max(device_errors(model, y, "cuda-half"));
        EXPECT_LE(error, kHalfError);
        EXPECT_GT(error, kDeviceError);
    }
}

TEST(Device, PolishesAsTheProcessorDoes) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    ThreadPool pool(1);
    for (const auto& structure :
         {Structure::dense(50, 100), Structure::dense(130, 190), Structure::repeated(40, 60, 3)}) {
        NetworkSpec spec = testing::learned_spec(WeightKind::tied, Update::accelerated());
        spec.layers = 3;
        spec.polish = 6;
        Model model = some_model(Case{"polish", structure, spec}, 3);
        model.cut = {0.3F};
        const Batch y = some_measurements(model, 50, 5);
        const Batch here = recover_coefficients(model, y, pool);
        const Batch there = DeviceModel(model, "cuda").recover_coefficients(y);
        double largest = 0, error = 0;
        for (std::size_t e = 0; e < here.size(); ++e) {
            largest = std::max(largest, std::abs(double{here.values()[e]}));
            error = std::max(error, std::abs(double{here.values()[e]} - there.values()[e]));
        }
        EXPECT_LE(error, 1e-4 * largest);  // y times 1 + 1e-6 changes the processor's by 2e-6
    }
}

TEST(Device, GivesARowTheSameBitsInAnyCompany) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    std::vector<Case> cases;
    for (const auto& structure : {Structure::dense(50, 100), Structure::dense(7, 9)})
        cases.push_back(
            {"company", structure, testing::spec_of(WeightKind::one_bit, Update::accelerated())});
    for (const Case& c : sign_cases()) cases.push_back(c);
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        const Model model = some_model(c, 3);
        const DeviceModel device(model, "cuda");
        const Batch y = some_measurements(model, 300, 5);
        const Batch all = device.recover_coefficients(y);
        EXPECT_EQ(device.recover_coefficients(y), all);
        for (const std::size_t i : {0U, 17U, 299U}) {
            const Batch alone = device.recover_coefficients(y.view().row_range(i, i + 1));
            EXPECT_TRUE(std::ranges::equal(alone.row(0), all.row(i))) << "row " << i;
        }
    }
}

/// One-bit weights for the kernels `resident`, `layered` and `signs`.
std::vector<std::pair<Structure, testing::Values>> kernels_of(std::size_t m, std::size_t n) {
    return {{Structure::dense(50, 100), testing::Values::usual},
            {Structure::dense(m, n), testing::Values::usual},
            {Structure::dense(m, n), testing::Values::sign_operator}};
}

TEST(Device, ForgetsTheRowsBefore) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    for (const auto& [structure, values] : kernels_of(130, 190)) {
        const Model model =
            some_model(Case{"again", structure,
                            testing::spec_of(WeightKind::one_bit, Update::accelerated()), values},
                       3);
        const DeviceModel device(model, "cuda");
        const Batch y = some_measurements(model, 3, 5), other = some_measurements(model, 3, 6);
        const Batch x = device.recover_coefficients(y);
        device.recover_coefficients(other);
        EXPECT_EQ(device.recover_coefficients(y), x);
    }
}

TEST(Device, TellsOfRowsThatOverflow) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    for (const auto& [structure, values] : kernels_of(130, 90)) {
        Model model =
            some_model(Case{"overflow", structure,
                            testing::spec_of(WeightKind::one_bit, Update::plain()), values},
                       3);
        for (auto& layer : model.weights)
            for (float& w : layer) w *= 1e20F;
        const Batch y = some_measurements(model, 3, 5);
        const Recoverer recoverer(model, "cuda");
        EXPECT_THROW(recoverer(y), Error);
    }
}

TEST(Device, TakesAnEmptyBatch) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    const Model model = some_model(
        Case{"empty", Structure::dense(5, 9), testing::spec_of(WeightKind::tied, {})}, 3);
    EXPECT_EQ(DeviceModel(model, "cuda").recover_coefficients(Batch(0, 5)).rows(), 0U);
}

TEST(Device, RefusesNetworksThatItDoesNotRun) {
    if (no_device()) GTEST_SKIP() << "skipped: no CUDA device";
    NetworkSpec spec;
    spec.architecture = Architecture::fcn;
    spec.update = Update::plain();
    const Operator op = Operator::random(Structure::dense(5, 9), OperatorEnsemble::gaussian, 1);
    EXPECT_THROW(Recoverer(untrained_model(spec, op, 0.1), "cuda"), Error);
    NetworkSpec centred;
    centred.centre = true;
    const Model model = untrained_model(centred, op, 0.1);
    EXPECT_THROW(Recoverer(model, "cuda"), Error);
}

TEST(Device, IsRefusedByNameWhereThereIsNone) {
    if (!no_device()) GTEST_SKIP() << "skipped: there is a CUDA device";
    const Operator op = Operator::random(Structure::dense(5, 9), OperatorEnsemble::gaussian, 1);
    for (const char* kernel : {"cuda", "cuda-half"}) {
        EXPECT_TRUE(names_device(kernel));
        try {
            const Recoverer recoverer(untrained_model(NetworkSpec{}, op, 0.1), kernel);
            FAIL() << "recovered on a device that is not there";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_NE(error.message().find("no CUDA device"), std::string::npos) << error.message();
        }
    }
    EXPECT_FALSE(names_device("auto"));
}

}  // namespace
}  // namespace pibinn
