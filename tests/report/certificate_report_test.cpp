#include "report/certificate_report.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "report/helpers.hpp"
#include "report/html.hpp"
#include "theory/certificate_tables.hpp"

namespace pibinn {
namespace {

Certificate three_layers(Activation activation) {
    Certificate c;
    c.spec.layers = 3;
    c.spec.activation = activation;
    c.spec.update = Update::plain();
    c.signals = 20;
    c.supports = 1;
    c.support_size = 2;
    c.terms.activation = activation;
    c.terms.s = 2;
    c.terms.B = 4;
    for (const double f : {0.5, 1.25, 0.75}) {
        LayerTerms layer;
        layer.f = f;
        layer.mu = 0.125;
        layer.theta = 0.1;
        c.terms.layers.push_back(layer);
    }
    c.bound = {{3, 2, 1}, {0.4, 0.3, 0.2}, 1};
    c.cvg.assign(3, std::numeric_limits<double>::infinity());
    c.asked = {{1, 1, 1}, {3, 3, 3}};
    c.measured = {{2.5, 1, 4, 0}, {0.05, 1, 0, 0}, {0.004, 1, 0, 0}};
    c.why = "alpha is not below 1";
    return c;
}

TEST(CertificateReport, SpectralTermsAreDrawnAgainstTheLineAtOne) {
    const Plot hard = spectral_figure(three_layers(Activation::hard)).plot;
    ASSERT_EQ(hard.lines.size(), 1u);
    EXPECT_EQ(hard.lines[0].direction, ReferenceLine::Direction::horizontal);
    EXPECT_EQ(hard.lines[0].at, 1);
    EXPECT_EQ(hard.y.scale, Axis::Scale::linear);
    EXPECT_EQ(hard.y.min, 0);
    ASSERT_EQ(hard.series.size(), 1u);
    EXPECT_EQ(hard.series[0].x, (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(hard.series[0].y, (std::vector<double>{0.5, 1.25, 0.75}));

    const Plot soft = spectral_figure(three_layers(Activation::soft)).plot;
    ASSERT_EQ(soft.series.size(), 2u);
    EXPECT_EQ(soft.series[1].y, (std::vector<double>{0.75, 1.5, 1}));
    EXPECT_EQ(soft.lines.size(), 1u);
}

TEST(CertificateReport, ErrorsAreDrawnOnALogAxisAndCvgWhereThereIsOne) {
    Certificate c = three_layers(Activation::hard);
    const Plot without = error_figure(c).plot;
    EXPECT_EQ(without.y.scale, Axis::Scale::log);
    EXPECT_EQ(without.x.scale, Axis::Scale::linear);
    ASSERT_EQ(without.series.size(), 2u);
    EXPECT_EQ(without.series[0].y, (std::vector<double>{2.5, 0.05, 0.004}));
    EXPECT_EQ(without.series[1].y, c.bound.error);
    c.cvg = {4, 3, 2};
    EXPECT_EQ(error_figure(c).plot.series.at(2).y, c.cvg);
    c.attack = Attack{};
    c.attack->error = {2.75, 0.5, 0.25};
    EXPECT_EQ(error_figure(c).plot.series.at(3).y, c.attack->error);
}

TEST(CertificateReport, TheLineAtOneIsInThePicture) {
    const std::string svg = plot_svg(spectral_figure(three_layers(Activation::hard)).plot);
    Plot bare = spectral_figure(three_layers(Activation::hard)).plot;
    bare.lines.clear();
    EXPECT_GT(count(svg, "<path"), count(plot_svg(bare), "<path"));
}

TEST(CertificateReport, TheoremAndBordersAreToldWithTheirConditions) {
    CertificateReport report;
    report.certificate = three_layers(Activation::hard);
    report.certificate.theorem = TheoremBound{};
    ResponseBounds response;
    response.stab_q = response.stab_b = response.jump = {1, 1, 1};
    response.term_a = response.term_b = {1, 1, 1};
    response.sens_w = response.sens_theta = Matrix<double>(3, 3);
    report.certificate.response = response;
    report.suggestion = Suggestion{};
    report.suggestion->delta_at_scale = {0, 0.7099};
    report.suggestion->open = true;
    report.suggestion->largest_delta = {0.7099, 1, 1, 1e300};
    report.suggestion->margin_delta = SetPoint{0.66, 1, 0.95, 27};
    const std::string page = certificate_report(report);
    EXPECT_TRUE(contains(page, "under the assumptions above, which fail here."));
    EXPECT_TRUE(contains(page, "&lt; 0.7099"));
    EXPECT_FALSE(contains(page, "e+300") || contains(page, "e300"));
    EXPECT_TRUE(contains(page, "largest delta with alpha 0.95"));

    report.certificate.verdict = Verdict::on_data;
    EXPECT_TRUE(contains(certificate_report(report), "seen to hold on the signals"));
    report.certificate.verdict = Verdict::guaranteed;
    EXPECT_TRUE(contains(certificate_report(report), "under the assumptions above."));
}

TEST(CertificateReport, PageAndTextShowTheSameTables) {
    CertificateReport report;
    report.certificate = three_layers(Activation::soft);
    const Certificate& c = report.certificate;
    const std::string page = certificate_report(report), text = c.text();
    for (const Table& table : {layer_table(c), notation_table(c), set_table(c)})
        for (const Table::Row& row : table.rows)
            for (const std::string& cell : row.cells) {
                EXPECT_TRUE(contains(page, ">" + escape_html(cell) + "</td>")) << cell;
                EXPECT_TRUE(contains(text, cell)) << cell;
            }
}

TEST(CertificateReport, TheSentenceIsFirstThenWhatIsAssumedThenTheNumbers) {
    for (const Verdict verdict : {Verdict::guaranteed, Verdict::on_data, Verdict::none}) {
        CertificateReport report;
        report.certificate = three_layers(Activation::hard);
        report.certificate.verdict = verdict;
        const std::string page = certificate_report(report);
        // Nothing but the title stands before it.
        const std::string lead =
            "</h1>\n<p class=\"lead\">" + escape_html(report.certificate.statement()) + "</p>";
        const std::size_t sentence = page.find(lead);
        ASSERT_NE(sentence, std::string::npos);
        const std::size_t assumed =
            page.find(verdict == Verdict::guaranteed ? "<p>For which signals: " : "<p>Asked for: ");
        ASSERT_NE(assumed, std::string::npos);
        EXPECT_LT(sentence, assumed);
        EXPECT_LT(assumed, page.find("class=\"card\""));
    }
}

// A reader compares them: the error of 0.004 is no larger than the bound of 1 above it.
TEST(CertificateReport, ErrorsOfTheCardsHaveOneUnit) {
    CertificateReport report;
    report.certificate = three_layers(Activation::hard);
    report.certificate.verdict = Verdict::guaranteed;
    const std::string page = certificate_report(report);
    const auto card = [&](const std::string& label, const std::string& value) {
        return contains(page, ">" + label + "</div><div class=\"value\">" + value + " ");
    };
    EXPECT_TRUE(card("Largest error proven", "1"));
    EXPECT_TRUE(card("Largest error measured", "0.004"));
    // What stands below a number is no rest of a sentence.
    EXPECT_TRUE(contains(page, "<div class=\"note\">which is "));
    EXPECT_TRUE(contains(page, "<div class=\"note\">relative to its own signal "));
}

TEST(CertificateReport, PlainWordsComeBeforeThePapersNotation) {
    CertificateReport report;
    report.certificate = three_layers(Activation::hard);
    report.certificate.failed = {"layer 2 may pass on 125 % of the error before it"};
    const std::string page = certificate_report(report);
    const std::size_t words = page.find("What failed: layer 2 may pass on 125 %");
    ASSERT_NE(words, std::string::npos);
    for (const char* notation : {"eq. ", "Cvg", "alpha", "f_k"})
        EXPECT_GT(page.find(notation, page.find("</style>")), words) << notation;
    EXPECT_TRUE(contains(page, "Largest error measured"));
    EXPECT_FALSE(contains(page, ">no: "));  // a card does not say twice what it shows large
}

}  // namespace
}  // namespace pibinn
