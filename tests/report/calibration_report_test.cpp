#include "report/calibration_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/helpers.hpp"
#include "report/html.hpp"
#include "theory/calibration_tables.hpp"

namespace pibinn {
namespace {

CalibrationReport of_a_thousand() {
    std::vector<HeldOutSignal> signals;
    for (int i = 1; i <= 1000; ++i) {
        HeldOutSignal signal;
        signal.error = 0.001 * i;
        signal.relative = 0.0005 * i;
        signal.residual = 0.0001 * i;
        signal.length = i;
        signal.nonzeros = 3;
        signals.push_back(signal);
    }
    return {calibration_of(signals, {}), "pibinn certify 'my model' --calibrate x.npy", "1.2.3"};
}

TEST(CalibrationReport, BeginsWithTheStatementThenWhatItRestsOn) {
    const CalibrationReport report = of_a_thousand();
    const std::string page = calibration_report(report);
    const std::size_t sentence =
        page.find("</h1>\n<p class=\"lead\">" + escape_html(report.calibration.statement()));
    ASSERT_NE(sentence, std::string::npos);
    std::size_t at = sentence;
    for (const std::string& assumption : report.calibration.assumptions()) {
        const std::size_t next = page.find("That " + escape_html(assumption), at);
        ASSERT_NE(next, std::string::npos) << assumption;
        at = next;
    }
    EXPECT_LT(at, page.find("class=\"card\""));
}

TEST(CalibrationReport, PageAndTextShowTheSameNumbers) {
    const CalibrationReport report = of_a_thousand();
    const std::string page = calibration_report(report), text = report.calibration.text();
    for (const Table::Row& row : limits_table(report.calibration).rows)
        for (const std::string& cell : row.cells) {
            EXPECT_TRUE(contains(page, ">" + escape_html(cell) + "</td>")) << cell;
            EXPECT_TRUE(contains(text, cell)) << cell;
        }
    EXPECT_TRUE(contains(page, "pibinn certify &#39;my model&#39; --calibrate x.npy"));
    EXPECT_TRUE(contains(page, "pibinn 1.2.3"));
}

TEST(CalibrationReport, NamesTheLimitsThatRecoverChecks) {
    CalibrationReport report = of_a_thousand();
    const std::string heading = "What recover checks";
    const std::string page = calibration_report(report);
    EXPECT_TRUE(contains(page, heading));
    EXPECT_TRUE(contains(page, fmt::format("{:.4g}</td>", report.calibration.residual->value)));
    report.calibration.residual = report.calibration.length = report.calibration.nonzeros = {};
    EXPECT_FALSE(contains(calibration_report(report), heading));
}

}  // namespace
}  // namespace pibinn
