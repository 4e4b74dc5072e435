// What a certificate says of itself, and that the library makes the one that the program makes.
#include <sstream>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/numbers.hpp"
#include "pibinn/error.hpp"
#include "pibinn/suggest.hpp"
#include "theory/cases.hpp"
#include "theory/certificate_json.hpp"
#include "theory/certificate_tables.hpp"

namespace pibinn::testing {

namespace {

/// The identity measures, one layer takes y as it is, less a threshold: the error is theta.
Model identity_model(float theta = 0.125F) {
    Model model;
    model.spec.layers = 1;
    model.spec.activation = Activation::soft;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    model.op = Operator(Structure::dense(2, 2), {1, 0, 0, 1});
    model.weights.assign(1, {1, 0, 0, 1});
    model.theta.assign(1, theta);
    return model;
}

Batch signals_of(std::initializer_list<float> values) {
    Batch x(values.size(), 2);
    std::size_t row = 0;
    for (const float value : values) x(row++, 0) = value;
    return x;
}

std::string answer(const Certificate& c, const std::string& question) {
    for (const Answer& a : answers(c))
        if (a.question == question) return a.answer;
    return "";
}

bool contains(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

std::string error_of(const Model& model, const CertificateInput& input) {
    try {
        certify(model, input);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST(CertificateText, LeadsWithTheAnswersOfAProof) {
    const Certificate c = certify(identity_model(), signals_of({1, 2, 4}));
    EXPECT_EQ(c.verdict, Verdict::guaranteed);
    EXPECT_TRUE(c.failed.empty());
    EXPECT_TRUE(c.text().starts_with("For every signal with nonzeros on"));
    EXPECT_TRUE(contains(c.text(), "\nGuaranteed              yes: "));
    EXPECT_TRUE(contains(answer(c, "For which signals"), "up to B = 4 long"));
    // 0.125 of 4 is -30.1 dB, of 1 it is -18.1 dB, and of 2, the middle one, -24.1 dB.
    EXPECT_TRUE(contains(answer(c, "Largest error proven"),
                         "0.125, which is -30.1 dB (3.12 %) of the longest signal, 4"));
    EXPECT_TRUE(contains(answer(c, "Largest error measured"), "0.125; relative"));
    EXPECT_TRUE(
        contains(answer(c, "Largest error measured"), "at most -18.1 dB (12.5 %), of 3 signals"));
    EXPECT_TRUE(contains(answer(c, "Typical error measured"), "0.125; relative"));
    EXPECT_TRUE(contains(answer(c, "Typical error measured"), "-24.1 dB"));
    EXPECT_EQ(answer(c, "What failed"), "");
}

TEST(CertificateText, SaysWhatFailedInPlainWords) {
    Model model = identity_model();
    model.weights.assign(1, {-1, 0, 0, 1});
    const Certificate c = certify(model, signals_of({1, 2}));
    EXPECT_EQ(c.verdict, Verdict::none);
    EXPECT_EQ(answer(c, "Largest error proven"), "none");
    EXPECT_TRUE(contains(answer(c, "What failed"), "layer 1 may pass on 200 % of the error"));
    model.spec.activation = Activation::hard;
    model.weights.assign(1, {1, 0, 1, 1});
    model.theta.assign(1, 0);
    const Certificate leaking = certify(model, signals_of({1, 2}));
    EXPECT_TRUE(contains(answer(leaking, "What failed"), "in 2 of 2 signals"));
    EXPECT_TRUE(contains(answer(leaking, "What failed"), "must be 2"));
}

TEST(CertificateText, AnExactAnswerIsSaidToBeOne) {
    const Certificate c = certify(identity_model(0), signals_of({1}));
    EXPECT_TRUE(contains(answer(c, "Largest error measured"), "none: 1 signal came back exactly"));
}

TEST(CertificateText, ALineHasAtMostAHundredCharacters) {
    const Certificate c = certify(model_of_case({}), {.support = {1, 4}});
    std::istringstream lines(c.text());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
    EXPECT_TRUE(contains(c.text(), "\n                        "));  // and wraps
}

TEST(CertificateText, ASuggestionSpeaksForItself) {
    const Suggestion s = suggest(identity_model(), {.support = {0}});
    EXPECT_TRUE(contains(s.text(), "all factor for delta 1"));
    EXPECT_NEAR(s.B, 4, 1e-12);
    EXPECT_EQ(nlohmann::json::parse(s.json())["best"]["delta"], 1);
}

TEST(CertificateInput, OfASupportOrASizeIsWhatDrawnSignalsGive) {
    const Model model = model_of_case({});
    CertificateOptions options;
    options.B = std::sqrt(2.0) + 3;
    const std::vector<std::uint32_t> support{1, 4};
    CertificateInput drawn;
    drawn.signals = signals_on_support(model, support, 30, options.B, 7);
    const Certificate given = certify(model, drawn, options);
    const Certificate asked = certify(model, {.support = support, .samples = 30, .seed = 7});
    EXPECT_EQ(asked.bound.error, given.bound.error);
    EXPECT_EQ(errors_of(asked), errors_of(given));
    const Certificate sized = certify(model, {.size = 2, .samples = 30});
    EXPECT_EQ(sized.all->size, 2U);
    EXPECT_EQ(sized.signals, 30U);
}

TEST(CertificateInput, IsRefusedUnlessItNamesOneSource) {
    const Model model = identity_model();
    EXPECT_TRUE(contains(error_of(model, CertificateInput{}), "CertificateInput::support"));
    EXPECT_TRUE(contains(error_of(model, {.support = {0}, .size = 1}), "more than one source"));
    EXPECT_TRUE(contains(error_of(model, {.measurements = Batch(1, 2), .size = 1}),
                         "measurements without signals"));
    EXPECT_TRUE(contains(error_of(model, {.size = 1, .samples = 0}), "CertificateInput::samples"));
    EXPECT_TRUE(contains(error_of(model, {.size = 0}), "supports of 0 entries"));
    EXPECT_TRUE(contains(error_of(model, {.signals = signals_of({1, std::nanf("")})}),
                         "signal 1 holds nan"));
}

// The analysis of a basis leaves a float32 floor where a coefficient is zero.
TEST(CertificateInput, SignalsOfABasisAreCertifiedByTheirCoefficients) {
    constexpr std::size_t n = 16;
    Case c;
    c.m = 40;
    c.n = n;
    Model model = model_of_case(c);
    model.domain.basis = Basis::named(BasisKind::dct, n);
    ThreadPool pool(1);
    const std::vector<std::uint32_t> support{3, 9};
    const Batch coefficients = signals_on_support(model, support, 20, 1e9, 1);
    const Certificate certificate = certify(model, model.domain.to_signals(coefficients, pool));
    EXPECT_EQ(certificate.supports, 1U);
    EXPECT_EQ(certificate.support_size, 2U);
    EXPECT_EQ(certificate.worst[0], support);
    EXPECT_TRUE(contains(answer(certificate, "Signals"), "coefficients of the signals"));
    // Drawn ones are coefficients already.
    EXPECT_EQ(certify(model, {.support = support}).worst[0], support);
}

TEST(AttachedCertificate, IsKnownAgainUntilTheWeightsChange) {
    Model model = identity_model();
    EXPECT_FALSE(attached_certificate(model));
    const Certificate c = certify(model, {.support = {0}});
    attach_certificate(model, c);
    ASSERT_TRUE(attached_certificate(model));
    EXPECT_TRUE(attached_certificate(model)->matches);
    EXPECT_EQ(attached_certificate(model)->verdict, to_string(c.verdict));
    EXPECT_EQ(nlohmann::json::parse(model.metadata[kCertificateKey]),
              nlohmann::json::parse(c.json()));
    model.theta[0] += 1;
    EXPECT_FALSE(attached_certificate(model)->matches);
    model.metadata[kCertificateKey] = "{damaged";
    EXPECT_FALSE(attached_certificate(model)->matches);
}

}  // namespace pibinn::testing
