// Signals that leave the class of a calibration or a certificate are told from those that do not.
#include "pibinn/recovery_check.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pibinn/calibration.hpp"
#include "pibinn/error.hpp"
#include "theory/cases.hpp"
#include "theory/row_measures.hpp"

namespace pibinn::testing {

namespace {

/// One layer on two blocks of the identity: it gives y less a threshold.
Model blocks_model(float theta) {
    Model model;
    model.spec.layers = 1;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    model.op = Operator(Structure::repeated(2, 2, 2), {1, 0, 0, 1});
    model.weights.assign(1, {1, 0, 0, 1});
    model.theta.assign(1, theta);
    return model;
}

Batch row_of(std::initializer_list<float> values) {
    Batch row(1, values.size());
    std::copy(values.begin(), values.end(), row.row(0).begin());
    return row;
}

void attach_limits(Model& model, double residual, double length) {
    Calibration c =
        calibration_of(std::vector<HeldOutSignal>(1000, {0, 0.0, residual, length, 2}), {});
    c.weights_hash = weights_hash(model);
    attach_calibration(model, c);
}

std::string refusal(const Model& model) {
    try {
        RecoveryCheck check(model);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST(RowMeasures, AreThoseOfEachPart) {
    ThreadPool pool(1);
    const Model model = blocks_model(0);
    const auto rows = measure_rows(model, row_of({3, 4, 1, 0}), row_of({3, 0, 1, 1e-9F}),
                                   parts_of_row(model), pool);
    ASSERT_EQ(rows.cols(), 2U);
    EXPECT_EQ(*rows(0, 0).residual, 4);
    EXPECT_EQ(rows(0, 0).measured, 5);
    EXPECT_EQ(rows(0, 0).length, 3);
    EXPECT_EQ(rows(0, 0).nonzeros, 1U);
    EXPECT_EQ(rows(0, 1).nonzeros, 1U);  // the other entry is rounding
    EXPECT_EQ(*rows(0, 0).relative_residual(), 0.8);
}

TEST(RowMeasures, OfNothingMeasuredHaveNoResidual) {
    ThreadPool pool(1);
    const Model model = blocks_model(0);
    const auto zero =
        measure_rows(model, row_of({0, 0, 0, 0}), row_of({0, 0, 0, 0}), {whole_row(model)}, pool);
    EXPECT_EQ(*zero(0, 0).relative_residual(), 0);
}

TEST(RecoveryCheck, FindsRowsBeyondACalibration) {
    ThreadPool pool(1);
    Model model = blocks_model(0);
    attach_limits(model, 0.5, 5);
    RecoveryCheck check(model);
    check.add(row_of({3, 0, 0, 0}), row_of({3, 0, 0, 0}), pool);
    EXPECT_EQ(check.outside(), 0U);
    EXPECT_EQ(check.text(), "all 1 signals are within the limits that the model carries");
    check.add(row_of({3, 0, 0, 0}), row_of({1, 0, 0, 0}), pool);  // two thirds are left
    check.add(row_of({6, 0, 0, 0}), row_of({6, 0, 0, 0}), pool);  // too long
    EXPECT_EQ(check.outside(), 2U);
    EXPECT_EQ(check.rows(), (std::vector<std::size_t>{1, 2}));
    EXPECT_NE(check.text().find("2 of 3 signals leave the class of the model's calibration: "
                                "relative residual over 0.5 (1), length over 5 (1); rows 1, 2"),
              std::string::npos)
        << check.text();
    const auto json = nlohmann::json::parse(check.json());
    EXPECT_EQ(json.at("outside"), 2);
    EXPECT_EQ(json.at("rows"), (std::vector<int>{1, 2}));
    EXPECT_EQ(json.at("limits")[0].at("from"), "calibration");
}

TEST(RecoveryCheck, TellsAnotherKindFromChance) {
    ThreadPool pool(1);
    Model model = blocks_model(0);
    attach_limits(model, 0.5, 5);
    RecoveryCheck check(model);
    Batch y(1000, 4);
    for (std::size_t i = 0; i < 10; ++i) y(i, 0) = 6;  // one in a hundred is what the limit allows
    check.add(y, y, pool);
    EXPECT_EQ(check.outside(), 10U);
    EXPECT_FALSE(check.another_kind());
    EXPECT_NE(check.text().find("no more than chance allows"), std::string::npos);
    // P(Binomial(1100, 0.01) >= 30) is below 1e-6.
    check.add(y.view().row_range(0, 20), y.view().row_range(0, 20), pool);
    check.add(y.view().row_range(0, 10), y.view().row_range(0, 10), pool);
    EXPECT_TRUE(check.another_kind());
    EXPECT_NE(check.text().find("rows 0, 1, 2, 3, 4, ..."), std::string::npos);
}

TEST(RecoveryCheck, NeverWarnsOfSignalsThatACertificateCovers) {
    // Signals of the class with all the noise that it allows, in whatever direction.
    ThreadPool pool(1);
    for (const Case& c : some_cases()) {
        Model model = model_of_case(c);
        CertificateInput input = input_of_case(c, model);
        CertificateOptions options;
        options.noise = 0.05;
        keep_support(model, input, options, pool);
        const Certificate certificate = certify(model, input, options, pool);
        if (!certificate.proves_errors()) continue;
        attach_certificate(model, certificate);
        Batch y = model.op.apply(input.signals, pool);
        Stream stream(c.seed, Purpose::tests, 7);
        for (std::size_t i = 0; i < y.rows(); ++i) {
            std::vector<double> e(y.cols());
            double sum = 0;
            for (double& v : e) sum += std::pow(v = stream.normal(), 2);
            for (std::size_t j = 0; j < e.size(); ++j)
                y(i, j) += static_cast<float>(0.05 * e[j] / std::sqrt(sum));
        }
        RecoveryCheck check(model);
        ASSERT_EQ(check.limits().size(), 3U);
        check.add(y, recover_coefficients(model, y, pool), pool);
        EXPECT_EQ(check.outside(), 0U) << c.seed << ": " << check.text();
        // Twice as long as any of the class, and on more entries.
        Batch long_y = y, full(1, c.n);
        for (float& v : long_y.values()) v *= 100;
        check.add(long_y, recover_coefficients(model, long_y, pool), pool);
        EXPECT_EQ(check.outside(), y.rows()) << c.seed;
        EXPECT_TRUE(check.another_kind());
        for (float& v : full.values()) v = 1e-3F;
        RecoveryCheck other(model);
        other.add(model.op.apply(full, pool), full, pool);
        EXPECT_EQ(other.limits()[2].exceeded, 1U);
        EXPECT_NE(other.text().find("certificate: nonzeros over"), std::string::npos);
    }
}

TEST(RecoveryCheck, HoldsACertificateAgainstEachBlock) {
    ThreadPool pool(1);
    Model model = blocks_model(0.125F);
    CertificateInput input;
    input.size = 1;
    CertificateOptions options;
    options.B = 3;
    options.noise = 0.0625;
    const Certificate certificate = certify(model, input, options, pool);
    ASSERT_EQ(certificate.verdict, Verdict::guaranteed);
    attach_certificate(model, certificate);
    RecoveryCheck check(model);
    const auto add = [&](const Batch& y) {
        check.add(y, recover_coefficients(model, y, pool), pool);
    };
    add(row_of({3, 0, 0, -3}));  // one entry in each block, each as long as B
    EXPECT_EQ(check.outside(), 0U) << check.text();
    add(row_of({1, 1, 0, 0}));
    add(row_of({0, 0, 4, 0}));
    EXPECT_EQ(check.rows(), (std::vector<std::size_t>{1, 2})) << check.text();
}

TEST(RecoveryCheck, AsksForWhatTheModelDoesNotCarry) {
    ThreadPool pool(1);
    Model model = blocks_model(0.1F);
    EXPECT_NE(refusal(model).find("no calibration and no certificate"), std::string::npos);
    EXPECT_NE(refusal(model).find("attach_calibration"), std::string::npos);
    attach_limits(model, 0.5, 5);
    EXPECT_EQ(refusal(model), "");
    model.theta[0] = 0.2F;
    EXPECT_NE(refusal(model).find("calibration was made of other weights"), std::string::npos);

    Model unproven = model_of_case({});
    CertificateInput input = input_of_case({}, unproven);
    attach_certificate(unproven, certify(unproven, input, {}, pool));
    EXPECT_NE(refusal(unproven).find("proves no limit of the error"), std::string::npos);
}

}  // namespace pibinn::testing
