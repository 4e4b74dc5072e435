#include "report/reproduction_report.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace pibinn {

namespace {

/// Rows of all tables with this verdict by the recipe of the paper.
std::size_t rows_with(const ReproductionReport& report, Agreement ReproducedRow::*side,
                      std::initializer_list<Agreement> kinds) {
    std::size_t rows = 0;
    for (const ReproducedTable& table : report.tables)
        for (const ReproducedRow& row : table.rows)
            rows += std::find(kinds.begin(), kinds.end(), row.*side) != kinds.end();
    return rows;
}

KeyFigure met_card(const ReproductionReport& report, Agreement ReproducedRow::*side,
                   const std::string& recipe) {
    const std::size_t met = rows_with(report, side, {Agreement::matches, Agreement::better});
    const std::size_t judged =
        met +
        rows_with(report, side, {Agreement::worse, Agreement::differs, Agreement::undetermined});
    return {fmt::format("met by recipe {}", recipe), std::to_string(met),
            fmt::format("of {}", judged), "rows that match the paper or are better"};
}

void add_verdicts(Page& page, const ReproductionReport& report) {
    std::vector<KeyFigure> cards{met_card(report, &ReproducedRow::paper, "paper"),
                                 met_card(report, &ReproducedRow::ours, "default")};
    const auto holding = std::count_if(
        report.claims.begin(), report.claims.end(),
        [](const ReproducedClaim& c) { return c.verdict == ReproducedClaim::Verdict::holds; });
    const auto unmeasured = std::count_if(
        report.claims.begin(), report.claims.end(),
        [](const ReproducedClaim& c) { return c.verdict == ReproducedClaim::Verdict::unmeasured; });
    cards.push_back({"claims that hold", std::to_string(holding),
                     fmt::format("of {}", report.claims.size() - unmeasured),
                     unmeasured > 0 ? fmt::format("{} not measured", unmeasured) : ""});
    cards.push_back({"trainings", std::to_string(report.trainings), "",
                     fmt::format("{:.0f} core minutes", report.core_seconds / 60)});
    page.section("Verdicts", report.quick
                                 ? "A quick run: few signals, few epochs, one seed. It shows that "
                                   "everything works, and says nothing of the paper."
                                 : "");
    page.key_figures(cards);
    page.table(verdict_table(report));
    for (const std::string& rule : verdict_rules()) page.paragraph(rule);
    if (report.claims.empty()) return;
    page.section("Claims in words");
    page.table(claims_table(report));
}

void add_table(Page& page, const ReproducedTable& table) {
    page.section(
        table.title,
        fmt::format("{} ({}). Numbers are {}; a difference in brackets is to the published "
                    "one.",
                    table.source, table.id, quantity_titles(table)));
    page.table(reproduced_table(table));
    if (!table.figures.empty()) {
        std::vector<Figure> figures;
        for (const ReproducedFigure& figure : table.figures) figures.push_back(figure.figure);
        page.figures(figures);
    }
    for (const std::string& paragraph : table.differs)
        page.paragraph("Known to differ: " + paragraph);
    page.paragraph("Protocol: " + table.protocol);
    for (const std::string& sentence : table.open) page.paragraph("Open: " + sentence);
    std::string code = table.command;
    for (const std::string& stages : table.stages) code += "\n# " + stages;
    page.code(code);
}

}  // namespace

std::string reproduction_page(const ReproductionReport& report) {
    std::vector<std::string> facts{
        report.seeds == 1 ? "one seed" : fmt::format("{} seeds", report.seeds), report.date,
        report.machine, report.made_by()};
    if (report.quick) facts.insert(facts.begin(), "quick run");
    Page page("Reproduction", "Physics-Inspired Binary Neural Networks", facts);
    add_verdicts(page, report);
    for (const ReproducedTable& table : report.tables) add_table(page, table);
    page.section("How this was made");
    page.code(report.command);
    return page.html(fmt::format("pibinn {}", report.version));
}

}  // namespace pibinn
