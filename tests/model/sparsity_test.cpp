#include "pibinn/sparsity.hpp"

#include <gtest/gtest.h>

#include "model/cases.hpp"
#include "pibinn/error.hpp"

namespace pibinn {
namespace {

using namespace testing;

/// A dense float model of two layers whose weights are all one.
Model model_of_ones(std::size_t m, std::size_t n) {
    NetworkSpec spec;
    spec.layers = 2;
    spec.weights = WeightKind::real;
    Model model = untrained_model(
        spec, Operator::random(Structure::dense(m, n), OperatorEnsemble::gaussian, 1), 0.1);
    for (auto& layer : model.weights) std::fill(layer.begin(), layer.end(), 1.0F);
    return model;
}

TEST(Sparsity, CountsZerosOfAllLayers) {
    Model model = model_of_ones(4, 5);
    EXPECT_EQ(sparsity(model), 0.0);
    model.weights[0][3] = 0.0F;
    model.weights[1][0] = -0.0F;
    model.weights[1][19] = 0.0F;
    EXPECT_DOUBLE_EQ(sparsity(model), 3.0 / 40);
}

TEST(Overlap, CountsZerosOffTheStructureOnly) {
    // Two 2 x 3 blocks: of each layer's 24 entries, 12 are off the structure.
    const Structure physics = Structure::repeated(2, 3, 2);
    Model model = model_of_ones(4, 6);
    EXPECT_EQ(overlap(model, physics), 0.0);
    model.weights[0][0] = 0.0F;          // row 0, column 0: in the first block
    model.weights[0][2] = 0.0F;          // row 2, column 0: off
    model.weights[0][3] = 0.0F;          // row 3, column 0: off
    model.weights[1][5 * 4 + 1] = 0.0F;  // row 1, column 5: off
    model.weights[1][5 * 4 + 2] = 0.0F;  // row 2, column 5: in the second block
    EXPECT_DOUBLE_EQ(*overlap(model, physics), 3.0 / 24);
}

TEST(Overlap, IsWholeForTheOperatorsOwnZerosOnEveryStructure) {
    for (const StructureKind kind :
         {StructureKind::repeated, StructureKind::blocks, StructureKind::mask}) {
        const Structure physics = some_structure(kind);
        Model model = model_of_ones(physics.rows(), physics.cols());
        const Matrix<float> a =
            Operator::random(physics, OperatorEnsemble::rademacher, 1).to_dense();
        for (auto& layer : model.weights)
            for (std::size_t l = 0; l < layer.size(); ++l) layer[l] = a(l % a.rows(), l / a.rows());
        EXPECT_EQ(overlap(model, physics), 1.0) << to_string(kind);
    }
}

TEST(Overlap, NeedsStructuralZerosAndADenseModel) {
    const Model model = model_of_ones(4, 6);
    EXPECT_EQ(overlap(model, Structure::dense(4, 6)), std::nullopt);
    EXPECT_THROW(overlap(model, Structure::repeated(2, 3, 4)), Error);
    Model structured = model;
    structured.op = Operator::random(Structure::repeated(2, 3, 2), OperatorEnsemble::gaussian, 1);
    EXPECT_THROW(overlap(structured, Structure::repeated(2, 3, 2)), Error);
}

}  // namespace
}  // namespace pibinn
