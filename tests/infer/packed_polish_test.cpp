#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "infer/site_cases.hpp"
#include "pibinn/packed_model.hpp"
#include "pibinn/recoverer.hpp"
#include "reference/reference.hpp"

// Polish of networks whose activation looks at groups or neighbours: kernels and the float network
// against float64.

namespace pibinn {
namespace {

using namespace testing;

/// Supports far smaller than the measurements, as those that polish is for.
std::vector<SiteCase> packed_cases() {
    std::vector<SiteCase> cases;
    const auto signs = [](const Structure& s) {
        return Operator::random(s, OperatorEnsemble::rademacher, 4);
    };
    for (const auto activation : {Activation::soft, Activation::hard, Activation::piecewise}) {
        const auto add = [&](Operator op, Groups groups, std::size_t neighbours,
                             std::size_t grid = 0, WeightKind weights = WeightKind::tied) {
            NetworkSpec spec = spec_of(weights, Update::accelerated(), activation);
            spec.layers = 3;
            spec.groups = groups;
            spec.neighbours = neighbours;
            spec.grid = grid;
            spec.polish = 4;
            cases.push_back({fmt::format("{} {} near {} grid {} {}x{} {}", to_string(activation),
                                         to_string(groups), neighbours, grid, op.rows(), op.cols(),
                                         to_string(weights)),
                             std::move(op), spec, 0.45F});
        };
        add(signs(Structure::repeated(61, 75, 2)), Groups::complex, 0);
        add(signs(Structure::repeated(99, 129, 4)), Groups::complex, 1);  // columns of signs
        add(signs(Structure::repeated(57, 73, 3)), Groups::rows, 2);
        add(signs(Structure::repeated(61, 65, 16)), Groups::rows, 0);
        add(qpsk(43, 61, 1), Groups::complex, 0);
        add(qpsk(43, 60, 1), Groups::complex, 1);
        add(qpsk(67, 91, 1), Groups::complex, 0);  // columns of signs
        add(qpsk(41, 53, 5), Groups::rows, 0);
        add(qpsk(41, 53, 3), Groups::rows, 1);
        add(signs(Structure::dense(61, 81)), Groups::none, 2, 9);
        add(signs(Structure::dense(61, 77)), Groups::none, 1);
        const std::vector<std::pair<std::size_t, std::size_t>> shapes{{53, 61}, {41, 49}};
        add(signs(Structure::blocks(shapes)), Groups::none, 1);
        for (const auto weights :
             {WeightKind::one_bit, WeightKind::one_bit_channel, WeightKind::ternary}) {
            add(some_complex_operator(43, 61), Groups::complex, 0, 0, weights);
            add(some_complex_operator(41, 53, 2), Groups::rows, 1, 0, weights);
        }
    }
    return cases;
}

/// Structures and weights that run as the float network.
std::vector<SiteCase> float_cases() {
    std::vector<SiteCase> cases;
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{31, 39}, {43, 57}};
    for (const auto weights : {WeightKind::real, WeightKind::tied})
        for (const bool imaginary : {true, false})
            for (const Structure& pattern : {Structure::blocks(shapes), some_mask(61, 75)})
                for (const std::size_t neighbours : {0, 1}) {
                    NetworkSpec spec =
                        spec_of(weights, Update::accelerated(), Activation::piecewise);
                    spec.layers = 3;
                    spec.groups = Groups::complex;
                    spec.neighbours = neighbours;
                    spec.polish = 4;
                    cases.push_back({fmt::format("{} {} {}near {}", to_string(weights),
                                                 to_string(pattern.kind()),
                                                 imaginary ? "" : "real ", neighbours),
                                     some_complex_mask(pattern, imaginary), spec, 0.6F});
                }
    NetworkSpec rows = spec_of(WeightKind::tied, Update::accelerated());
    rows.layers = 3;
    rows.groups = Groups::rows;
    rows.polish = 4;
    cases.push_back(
        {"17 rows",
         Operator::random(Structure::repeated(47, 57, 17), OperatorEnsemble::gaussian, 5), rows,
         0.6F});
    return cases;
}

Batch expected_of(const Model& model, const Batch& y) {
    const ParameterLayout layout(model.spec, model.op.structure());
    const ParameterStore p = parameters_of(model);
    return convert<float>(
        reference_layers(model.spec, model.op, layout, as_double(p.values()), convert<double>(y))
            .back());
}

/// Of the row that is worst.
double distance(const Batch& found, const Batch& expected) {
    double worst = 0;
    for (std::size_t i = 0; i < found.rows(); ++i) {
        double error = 0, size = 0;
        for (std::size_t j = 0; j < found.cols(); ++j) {
            error += std::pow(double{found(i, j)} - expected(i, j), 2);
            size += std::pow(double{expected(i, j)}, 2);
        }
        worst = std::max(worst, std::sqrt(error / size));
    }
    return worst;
}

std::vector<std::string> site_kernels() {
    std::vector<std::string> kernels = packed_kernels();
    std::erase_if(kernels, [&](const std::string& name) {
        return name.starts_with("tile/") ||
               (!name.starts_with("vector/") && name != packed_kernels().front());
    });
    return kernels;
}

Model without_polish(Model model) {
    model.spec.polish = 0;
    model.cut.clear();
    return model;
}

constexpr double kRounding = 2e-5;

TEST(PackedPolish, OfSitesIsThatOfFloat64) {
    ThreadPool pool(2);
    for (const SiteCase& c : packed_cases()) {
        const Model model = model_of_case(c);
        ASSERT_TRUE(can_be_packed(model)) << c.name;
        const Batch y = some_measurements(model, 17, 6);
        const Batch expected = expected_of(model, y);
        EXPECT_LE(distance(recover_coefficients(model, y, pool), expected), kRounding)
            << c.name << ", float network";
        EXPECT_GT(distance(expected_of(without_polish(model), y), expected), 1e-2) << c.name;
        for (const std::string& kernel : site_kernels()) {
            const PackedModel packed(model, kernel);
            std::vector<Batch> layers;
            const Batch x = packed.recover_coefficients(y, pool, &layers);
            EXPECT_LE(distance(x, expected), kRounding) << c.name << ", " << kernel;
            EXPECT_EQ(layers.back(), x) << "the last layer is told as polished";
        }
    }
}

TEST(PackedPolish, OfTheFloatNetworkIsThatOfFloat64) {
    ThreadPool pool(2);
    for (const SiteCase& c : float_cases()) {
        const Model model = model_of_case(c);
        ASSERT_FALSE(can_be_packed(model)) << c.name;
        const Batch y = some_measurements(model, 9, 6);
        const Batch expected = expected_of(model, y);
        EXPECT_LE(distance(recover_coefficients(model, y, pool), expected), kRounding) << c.name;
        EXPECT_GT(distance(expected_of(without_polish(model), y), expected), 1e-2) << c.name;
    }
}

TEST(PackedPolish, OneRowOneResult) {
    ThreadPool one(1), three(3);
    for (const SiteCase& c : packed_cases()) {
        const Model model = model_of_case(c);
        const PackedModel packed(model);
        const Batch y = some_measurements(model, 33, 8);
        const Batch x = packed.recover_coefficients(y, one);
        EXPECT_EQ(x, packed.recover_coefficients(y, three)) << c.name;
        PackedModel::Workspace workspace(packed);
        Batch alone(1, x.cols());
        for (const std::size_t i : {0, 1, 32}) {
            packed.recover_coefficients(y.row(i), alone.row(0), workspace);
            EXPECT_TRUE(std::ranges::equal(alone.row(0), x.row(i))) << c.name << ", row " << i;
        }
    }
}

TEST(PackedPolish, UnitsDoNotMatter) {
    ThreadPool pool(1);
    for (const SiteCase& usual : packed_cases()) {
        if (!usual.spec.tied()) continue;
        for (const float a_unit : {1e-5F, 1e5F})
            for (const float x_unit : {1e-5F, 1e5F}) {
                SiteCase c = usual;
                AlignedBuffer<float> values(c.op.values().begin(), c.op.values().end());
                for (float& v : values) v *= a_unit;
                c.op = Operator(c.op.structure(), values);
                Model model = model_of_case(c);
                for (float& v : model.step) v /= a_unit * a_unit;
                for (float& v : model.theta) v /= a_unit;
                Batch y = some_measurements(model, 5, 6);
                for (float& v : y.values()) v *= x_unit;
                const Batch expected = expected_of(model, y);
                for (const std::string& kernel : site_kernels())
                    EXPECT_LE(distance(PackedModel(model, kernel).recover_coefficients(y, pool),
                                       expected),
                              kRounding)
                        << c.name << ", " << kernel << ", units " << a_unit << ' ' << x_unit;
            }
    }
}

TEST(PackedPolish, LeavesAloneWhatItCannotImprove) {
    ThreadPool pool(1);
    for (const SiteCase& usual : packed_cases()) {
        SiteCase c = usual;
        c.cut = 0;
        Model model = model_of_case(c);
        for (float& v : model.theta) v = 0;
        Batch y = some_measurements(model, 5, 6);
        for (const std::string& kernel : site_kernels()) {
            EXPECT_EQ(PackedModel(model, kernel).recover_coefficients(y, pool),
                      PackedModel(without_polish(model), kernel).recover_coefficients(y, pool))
                << c.name << ", more entries than measurements, " << kernel;
            model.cut = {1};
            EXPECT_EQ(PackedModel(model, kernel).recover_coefficients(y, pool),
                      PackedModel(without_polish(model), kernel).recover_coefficients(y, pool))
                << c.name << ", nothing beyond the cut, " << kernel;
            model.cut = {0};
            const Batch nothing(y.rows(), y.cols());
            EXPECT_EQ(PackedModel(model, kernel).recover_coefficients(nothing, pool),
                      Batch(y.rows(), c.op.cols()))
                << c.name << ", " << kernel;
        }
    }
}

}  // namespace
}  // namespace pibinn
