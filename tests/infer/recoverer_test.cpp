#include "pibinn/recoverer.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/test_folder.hpp"
#include "model/cases.hpp"
#include "pibinn/error.hpp"
#include "pibinn/random.hpp"

namespace pibinn {
namespace {

constexpr std::size_t kM = 8, kN = 12;

Model some_model(WeightKind weights, Architecture architecture = Architecture::unrolled) {
    NetworkSpec spec;
    spec.layers = 3;
    spec.weights = weights;
    spec.architecture = architecture;
    if (architecture == Architecture::fcn) spec.update = Update::plain();
    const auto op = Operator::random(Structure::dense(kM, kN), OperatorEnsemble::gaussian, 1);
    return untrained_model(spec, op, 0.01);
}

Batch some_rows(std::size_t rows) {
    Batch y(rows, kM);
    Stream stream(7, Purpose::tests);
    for (float& v : y.values()) v = static_cast<float>(stream.normal());
    return y;
}

TEST(Recoverer, RefusesAModelWhoseFieldsDoNotFitWithTheirValues) {
    using Change = std::function<void(Model&)>;
    const std::vector<std::pair<Change, std::string>> changes{
        {[](Model& m) { m.weights.clear(); }, "Model::weights has 0 layers"},
        {[](Model& m) { m.weights[1].clear(); }, "Model::weights[1] has 0 numbers"},
        {[](Model& m) { m.weights[2].pop_back(); }, "Model::weights[2] has 95 numbers"},
        {[](Model& m) { m.spec.layers = 5; },
         "Model::weights has 3 layers, but its network needs 5"},
        {[](Model& m) { m.spec.layers = 2; },
         "Model::weights has 3 layers, but its network needs 2"},
        {[](Model& m) { m.spec.layers = 0; }, "0 layers"},
        {[](Model& m) { m.theta.pop_back(); }, "Model::theta has 2 numbers"},
        {[](Model& m) { m.beta.clear(); }, "Model::beta has 0 numbers"},
        {[](Model& m) { m.omega.push_back(0); }, "Model::omega has 4 numbers"},
        {[](Model& m) { m.spec.update.momentum = false; }, "Model::beta has 3 numbers"},
        {[](Model& m) { m.op = {}; }, "Model::op is 0 x 0"},
        {[](Model& m) {
             m.op = Operator::random(Structure::dense(kM, kN + 1), OperatorEnsemble::gaussian, 1);
         },
         "Model::weights[0] has 96 numbers, but its network needs 104"},
        {[](Model& m) {
             Matrix<float> small(2, 2);
             small(0, 0) = small(1, 1) = 1;
             m.domain.basis = Basis::from_matrix(small, "a basis");
         },
         "signals of 2 entries"},
    };
    ThreadPool pool(1);
    for (const WeightKind weights : weight_kinds())
        for (const auto& [change, words] : changes) {
            Model model = some_model(weights);
            if (model.spec.tied() && words.starts_with("Model::weights")) continue;  // has none
            change(model);
            for (const auto& action : std::vector<std::function<void()>>{
                     [&] { Recoverer{model}; },
                     [&] { recover_coefficients(model, some_rows(1), pool); },
                     [&] { model.save("/dev/null"); },
                     [&] {
                         if (can_be_packed(model))
                             PackedModel{model};
                         else
                             Recoverer{model};
                     }}) {
                const Error e = error_of(action);
                EXPECT_EQ(e.kind(), ErrorKind::usage) << words;
                EXPECT_NE(e.message().find(words), std::string::npos) << e.message();
            }
        }
}

/// Calls `check` for a recoverer of every kind of network. Weights are multiplied by `factor`.
void for_every_network(float factor, const std::function<void(const Recoverer&)>& check) {
    for (const WeightKind weights : weight_kinds())
        for (const auto architecture : {Architecture::unrolled, Architecture::fcn})
            for (const bool basis : {false, true}) {
                if (weights == WeightKind::tied && architecture == Architecture::fcn) continue;
                Model model = some_model(weights, architecture);
                for (auto& layer : model.weights)
                    for (float& w : layer) w *= factor;
                if (model.spec.tied())
                    for (float& s : model.step) s *= factor;
                if (basis) model.domain.basis = Basis::named(BasisKind::dct, kN);
                SCOPED_TRACE(std::string(to_string(weights)) + " " +
                             std::string(to_string(architecture)) + (basis ? " dct" : ""));
                check(Recoverer(model));
            }
}

void expect_refused(const Recoverer& recoverer, const Batch& y, const std::string& words,
                    const std::string& words_later) {
    ThreadPool pool(2);
    for (const auto& action :
         std::vector<std::function<void()>>{[&] { recoverer(y); }, [&] { recoverer(y, pool); },
                                            [&] { recoverer.coefficients(y, pool); }}) {
        const Error e = error_of(action);
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_NE(e.message().find(words), std::string::npos) << e.message();
    }
    const Error later = error_of([&] { recoverer.coefficients(y, pool, nullptr, 1000); });
    EXPECT_NE(later.message().find(words_later), std::string::npos) << later.message();
}

TEST(Recoverer, RefusesMeasurementsThatWouldOverflow) {
    for_every_network(1, [](const Recoverer& recoverer) {
        Batch y = some_rows(40);
        for (float& v : y.row(33)) v = 3e38F;
        for (float& v : y.row(35)) v = 3e38F;
        expect_refused(recoverer, y, "y has 3e+38 at row 33, column 0", "at row 1033, column 0");
        for (float& v : y.values()) v = kLargestMeasurement;
        const Batch x = recoverer(y);
        for (const float v : x.values()) EXPECT_TRUE(std::isfinite(v));
        EXPECT_NE(x(0, 0), 0);
    });
}

TEST(Recoverer, RefusesResultsThatOverflowInANetworkThatAmplifies) {
    for_every_network(1e16F, [](const Recoverer& recoverer) {
        Batch y(40, kM);
        for (float& v : y.row(33)) v = 1;
        for (float& v : y.row(35)) v = 1;
        expect_refused(recoverer, y, "row 33 is recovered as ", "row 1033 is recovered as ");
    });
}

TEST(Recoverer, LooksAtTheSignalsOfABasisToo) {
    ThreadPool pool(1);
    Model model = some_model(WeightKind::one_bit);
    model.domain.normalize = Normalize::zscore;
    model.domain.deviation = 1e38;
    const Recoverer recoverer(model);
    Batch x(3, kN);
    for (float& v : x.row(1)) v = 100;
    const Error e = error_of([&] { recoverer.signals(x, pool); });
    EXPECT_EQ(e.message().find("row 1 is recovered as inf"), 0U) << e.message();
}

TEST(Recoverer, FindsEveryKindOfFlawAtEveryPlace) {
    const float flaws[] = {std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
    Batch x(1, 37);
    for (float& v : x.values()) v = std::numeric_limits<float>::max();
    EXPECT_NO_THROW(require_recovered(x));
    for (float& v : x.values()) v = -kLargestMeasurement;
    EXPECT_NO_THROW(require_numbers(x));
    x(0, 20) = std::nextafter(kLargestMeasurement, INFINITY);
    EXPECT_THROW(require_numbers(x), Error);
    x(0, 20) = 0;
    for (const float flaw : flaws)
        for (std::size_t j = 0; j < x.cols(); ++j) {
            const float was = std::exchange(x(0, j), flaw);
            const std::string at = std::to_string(j) + " (counted";
            EXPECT_NE(error_of([&] { require_recovered(x); }).message().find(at),
                      std::string::npos);
            EXPECT_NE(error_of([&] { require_numbers(x); }).message().find(at), std::string::npos);
            x(0, j) = was;
        }
}

}  // namespace
}  // namespace pibinn
