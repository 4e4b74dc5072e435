#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "infer/kernel_choice.hpp"
#include "infer/site_cases.hpp"
#include "model/network_sites.hpp"
#include "pibinn/error.hpp"
#include "pibinn/packed_model.hpp"
#include "pibinn/recoverer.hpp"
#include "reference/reference.hpp"

namespace pibinn {
namespace {

using namespace testing;

TEST(PackedSites, RecoverWhatFloat64Does) {
    ThreadPool pool(2);
    for (const SiteCase& c : site_cases()) {
        const Model model = model_of_case(c);
        ASSERT_TRUE(can_be_packed(model)) << c.name;
        const Batch y = some_measurements(model, 17, 6);
        const ParameterLayout layout(c.spec, c.op.structure());
        const ParameterStore p = parameters_of(model);
        const auto expected =
            reference_layers(c.spec, c.op, layout, as_double(p.values()), convert<double>(y));
        double energy = 0;
        for (const double v : expected.back().values()) energy += v * v;
        EXPECT_GT(energy, 0) << c.name;
        const bool rows_apart = sites_of(c.spec, c.op.structure()).grouping.rows == 1;
        std::map<std::string, Batch> of_set;
        for (const std::string& kernel : packed_kernels()) {
            const std::string set = kernel.substr(kernel.find('/') + 1);
            if (!choose_kernel(kernel).takes_groups_of_rows() && !rows_apart) continue;
            const PackedModel packed(model, kernel);
            std::vector<Batch> layers;
            const Batch x = packed.recover_coefficients(y, pool, &layers);
            for (std::size_t k = 0; k < layers.size(); ++k) {
                double error = 0, size = 0;
                for (std::size_t i = 0; i < x.size(); ++i) {
                    error += std::pow(layers[k].data()[i] - expected[k].data()[i], 2);
                    size += std::pow(expected[k].data()[i], 2);
                }
                EXPECT_LE(std::sqrt(error / size), 3e-6)
                    << c.name << ", " << kernel << ", layer " << k + 1;
            }
            EXPECT_EQ(x, layers.back());
            EXPECT_EQ(x, of_set.try_emplace(set, x).first->second) << c.name << ", " << kernel;
        }
    }
}

TEST(PackedSites, OfVeryManyRowsRunAsTheFloatNetwork) {
    SiteCase c = site_cases()[0];
    c.op = Operator::random(Structure::repeated(13, 21, 17), OperatorEnsemble::rademacher, 4);
    c.spec.groups = Groups::rows;
    EXPECT_FALSE(can_be_packed(model_of_case(c)));
}

TEST(PackedSites, OneRowOneResult) {
    ThreadPool one(1), three(3);
    for (const SiteCase& c : site_cases()) {
        const Model model = model_of_case(c);
        const PackedModel packed(model);
        const Batch y = some_measurements(model, 70, 8);  // more than any tile holds
        const Batch x = packed.recover_coefficients(y, one);
        EXPECT_EQ(x, packed.recover_coefficients(y, three)) << c.name;
        PackedModel::Workspace workspace(packed);
        Batch alone(1, x.cols());
        for (const std::size_t i : {0, 1, 32, 64, 69}) {
            packed.recover_coefficients(y.row(i), alone.row(0), workspace);
            EXPECT_TRUE(std::ranges::equal(alone.row(0), x.row(i))) << c.name << ", row " << i;
        }
    }
}

TEST(PackedSites, OfSeveralRowsRefuseKernelsThatShrinkRowsOneByOne) {
    const Model model = model_of_case(site_cases()[1]);
    ASSERT_EQ(sites_of(model.spec, model.op.structure()).grouping.rows, 2U);
    for (const std::string& kernel : packed_kernels()) {
        if (!kernel.starts_with("tile/")) continue;
        try {
            PackedModel(model, kernel);
            FAIL() << kernel;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_NE(error.message().find(kernel), std::string::npos) << error.message();
        }
    }
}

}  // namespace
}  // namespace pibinn
