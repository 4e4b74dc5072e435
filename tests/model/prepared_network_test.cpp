#include "model/prepared_network.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "model/cases.hpp"

namespace pibinn {
namespace {

Model some_model(StructureKind structure) {
    NetworkSpec spec;
    spec.layers = 3;
    spec.weights = WeightKind::real;
    return untrained_model(
        spec, Operator::random(testing::some_structure(structure), OperatorEnsemble::gaussian, 3),
        0.05);
}

Batch some_rows(std::size_t rows, std::size_t cols) {
    Batch y(rows, cols);
    Stream stream(4, Purpose::tests);
    for (float& v : y.values()) v = static_cast<float>(stream.normal());
    return y;
}

TEST(PreparedNetwork, RecoversWhatTheModelDoesCallAfterCall) {
    ThreadPool pool(2);
    for (auto structure : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                           StructureKind::mask}) {
        const Model model = some_model(structure);
        const PreparedNetwork prepared(model);
        const Batch y = some_rows(40, model.op.rows());
        std::vector<Batch> layers, expected_layers;
        const Batch expected = recover_coefficients(model, y, pool, &expected_layers);
        EXPECT_EQ(prepared.recover_coefficients(y, pool), expected);
        EXPECT_EQ(prepared.recover_coefficients(y, pool, &layers), expected);
        EXPECT_EQ(layers, expected_layers);
        const Batch one = prepared.recover_coefficients(y.view().row_range(0, 1), pool);
        for (std::size_t j = 0; j < one.cols(); ++j) EXPECT_NEAR(one(0, j), expected(0, j), 1e-5);
    }
}

TEST(PreparedNetwork, ServesSeveralThreadsAtATime) {
    const Model model = some_model(StructureKind::dense);
    const PreparedNetwork prepared(model);
    const Batch y = some_rows(20, model.op.rows());
    ThreadPool one(1);
    const Batch expected = recover_coefficients(model, y, one);
    std::vector<std::thread> threads;
    std::vector<int> same(4, 0);
    for (std::size_t t = 0; t < same.size(); ++t)
        threads.emplace_back([&, t] {
            ThreadPool own(1);
            for (int call = 0; call < 50; ++call)
                same[t] += prepared.recover_coefficients(y, own) == expected ? 1 : 0;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(same, std::vector<int>(4, 50));
}

}  // namespace
}  // namespace pibinn
