#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/markdown.hpp"
#include "report/reproduction_report.hpp"

namespace pibinn {

namespace {

std::string shown(double value, int digits) {
    if (digits > 0) return decimal(value, digits);
    return value < 0 ? decimal(value, 0) : grouped(static_cast<std::size_t>(std::llround(value)));
}

std::string shown(const Spread& value, int digits) {
    return digits > 0 ? decimal(value, digits) : shown(value.mean, 0);
}

/// The numbers of a row in one cell, with slashes between them; a dash where there is none at all.
template <class Pick>
std::string joined(const ReproducedTable& table, const ReproducedRow& row, Pick pick) {
    std::string cell;
    bool any = false;
    for (std::size_t q = 0; q < row.numbers.size(); ++q) {
        const auto& value = pick(row.numbers[q]);
        any = any || value.has_value();
        cell += (q > 0 ? " / " : "") + (value ? shown(*value, table.quantities[q].digits) : kNone);
    }
    return any ? cell : kNone;
}

/// The label, and the number of seeds where others have more.
std::string label_cell(const ReproducedTable& table, const ReproducedRow& row) {
    std::size_t seeds = 0;
    for (const ReproducedNumber& number : row.numbers)
        for (const auto& value : {number.paper, number.ours})
            if (value) seeds = std::max(seeds, value->count);
    if (seeds == 0 || seeds == table.seeds) return row.label;
    return fmt::format("{} ({} seed{})", row.label, seeds, seeds == 1 ? "" : "s");
}

std::string verdict_cell(Agreement agreement, const std::optional<double>& difference) {
    if (agreement == Agreement::unjudged) return kNone;
    std::string text(to_string(agreement));
    if (difference && *difference != 0)
        text += fmt::format(" ({}{})", *difference > 0 ? "+" : "",
                            decimal(*difference, std::abs(*difference) < 0.1 ? 3 : 2));
    return text;
}

std::string quick_words(const ReproductionReport& report) {
    return report.quick ? "A quick run, whose numbers say nothing of the paper. " : "";
}

std::string csv_value(const std::optional<double>& value) {
    return value ? fmt::format("{:.8g}", *value) : "";
}

std::string csv_spread(const std::optional<Spread>& value) {
    return value ? fmt::format("{:.8g},{:.4g},{}", value->mean, value->deviation, value->count)
                 : ",,";
}

std::size_t rows_of(const ReproducedTable& table, Agreement ReproducedRow::*side,
                    Agreement agreement) {
    return static_cast<std::size_t>(
        std::count_if(table.rows.begin(), table.rows.end(),
                      [&](const ReproducedRow& row) { return row.*side == agreement; }));
}

}  // namespace

std::string ReproductionReport::made_by() const {
    std::string words = "version " + version;
    if (!commits.empty())
        words += fmt::format(", commit{} {}", commits.size() > 1 ? "s" : "",
                             fmt::join(commits, " and "));
    return words;
}

std::string_view to_string(Agreement agreement) {
    switch (agreement) {
        case Agreement::matches:
            return "matches";
        case Agreement::better:
            return "better";
        case Agreement::worse:
            return "worse";
        case Agreement::differs:
            return "differs";
        case Agreement::undetermined:
            return "not determined";
        case Agreement::absent:
            return "not run";
        case Agreement::unjudged:
            return "not judged";
    }
    return "?";
}

std::string_view to_string(ReproducedClaim::Verdict verdict) {
    switch (verdict) {
        case ReproducedClaim::Verdict::holds:
            return "holds";
        case ReproducedClaim::Verdict::fails:
            return "does not hold";
        case ReproducedClaim::Verdict::unmeasured:
            return "not measured";
    }
    return "?";
}

std::string quantity_titles(const ReproducedTable& table) {
    std::string titles;
    for (const ReproducedQuantity& quantity : table.quantities)
        titles += (titles.empty() ? "" : " / ") + quantity.title;
    return titles;
}

std::vector<std::string> verdict_rules() {
    return {
        "Errors in dB match within 1 dB of the published value; otherwise they are better or "
        "worse.",
        "Counts match when they are equal, scales and shares within a tenth, and times when ours "
        "take no longer (then: better).",
        "A number that is worse or different, and that the paper's text does not fix, is not "
        "determined; the table says why.",
        "What was not run for want of data or of a GPU is marked so and has no number."};
}

Table reproduced_table(const ReproducedTable& table) {
    std::vector<std::string> titles{"row", "published"};
    if (table.has_paper) titles.insert(titles.end(), {"recipe paper", "verdict"});
    if (table.has_ours) titles.insert(titles.end(), {"recipe default", "verdict of default"});
    const bool notes = std::any_of(table.rows.begin(), table.rows.end(),
                                   [](const ReproducedRow& row) { return !row.note.empty(); });
    if (notes) titles.push_back("note");
    Table result = Table::of(titles);
    if (notes) result.columns.back().number = false;
    for (const ReproducedRow& row : table.rows) {
        std::vector<std::string> cells{
            label_cell(table, row),
            joined(
                table, row, [](const ReproducedNumber& n) -> auto& { return n.published; })};
        if (table.has_paper) {
            cells.push_back(joined(
                table, row, [](const ReproducedNumber& n) -> auto& { return n.paper; }));
            cells.push_back(verdict_cell(row.paper, row.paper_difference));
        }
        if (table.has_ours) {
            cells.push_back(joined(
                table, row, [](const ReproducedNumber& n) -> auto& { return n.ours; }));
            cells.push_back(verdict_cell(row.ours, row.our_difference));
        }
        if (notes) cells.push_back(row.note.empty() ? kNone : row.note);
        result.add(std::move(cells));
    }
    return result;
}

Table claims_table(const ReproductionReport& report) {
    Table table = Table::of({"claim", "verdict", "evidence", "table"});
    for (Table::Column& column : table.columns) column.number = false;
    for (const ReproducedClaim& claim : report.claims)
        table.add({claim.text, std::string(to_string(claim.verdict)),
                   claim.evidence.empty() ? kNone : claim.evidence, claim.id});
    return table;
}

Table verdict_table(const ReproductionReport& report) {
    constexpr std::array kinds{Agreement::matches, Agreement::better,       Agreement::worse,
                               Agreement::differs, Agreement::undetermined, Agreement::absent};
    std::vector<std::string> titles{"experiment", "recipe"};
    for (const Agreement kind : kinds) titles.emplace_back(to_string(kind));
    Table result = Table::of(titles);
    result.columns[1].number = false;
    for (const ReproducedTable& table : report.tables)
        for (const bool paper : {true, false}) {
            const auto side = paper ? &ReproducedRow::paper : &ReproducedRow::ours;
            std::vector<std::string> cells{table.id, paper ? "paper" : "default"};
            std::size_t judged = 0;
            for (const Agreement kind : kinds) {
                const std::size_t rows = rows_of(table, side, kind);
                judged += rows;
                cells.push_back(rows > 0 ? std::to_string(rows) : kNone);
            }
            if (judged > 0) result.add(std::move(cells));
        }
    return result;
}

std::string reproduced_markdown(const ReproducedTable& table, const ReproductionReport& report) {
    std::string text = fmt::format("# {}\n\n", table.title);
    text += wrapped(fmt::format("{}. {}", table.source, table.protocol)) + "\n";
    text += fmt::format("    {}\n\n", table.command);
    text += wrapped(fmt::format("{}{} seed{} unless a row says another number, {}, "
                                "{}, {}.",
                                quick_words(report), table.seeds, table.seeds == 1 ? "" : "s",
                                report.date, report.made_by(), report.machine)) +
            "\n";
    text += wrapped(fmt::format("Numbers are {}; a difference in brackets is to the published one.",
                                quantity_titles(table))) +
            "\n";
    text += table_markdown(reproduced_table(table)) + "\n";
    for (const std::string& paragraph : table.differs)
        text += wrapped("**Known to differ.** " + paragraph) + "\n";
    for (const ReproducedFigure& figure : table.figures)
        text += fmt::format("![{}](../figures/{}.svg)\n\n", figure.figure.heading, figure.name);
    if (!table.open.empty()) text += "What the paper leaves open, and what was chosen:\n\n";
    for (const std::string& sentence : table.open) text += wrapped(sentence, "- ");
    if (!table.stages.empty()) text += "\nEpochs of the stages:\n\n";
    for (const std::string& stages : table.stages) text += wrapped(stages, "- ");
    return text;
}

std::string reproduced_csv(const ReproducedTable& table) {
    std::string text =
        "experiment,row,quantity,published,paper_mean,paper_std,paper_seeds,default_mean,"
        "default_std,default_seeds,paper_verdict,default_verdict,note,folder\n";
    for (const ReproducedRow& row : table.rows)
        for (std::size_t q = 0; q < row.numbers.size(); ++q)
            text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", table.id, csv_word(row.label),
                                table.quantities[q].name, csv_value(row.numbers[q].published),
                                csv_spread(row.numbers[q].paper), csv_spread(row.numbers[q].ours),
                                to_string(row.paper), to_string(row.ours), csv_word(row.note),
                                csv_word(row.folder));
    return text;
}

std::string summary_markdown(const ReproductionReport& report) {
    std::string text = fmt::format("# The paper, reproduced\n\n    {}\n\n", report.command);
    text += wrapped(fmt::format("{}{} trainings, {:.0f} core minutes, {}, {}, {}.",
                                quick_words(report), report.trainings, report.core_seconds / 60,
                                report.date, report.made_by(), report.machine)) +
            "\n";
    text += "## Verdicts\n\n" + table_markdown(verdict_table(report)) + "\n";
    for (const std::string& rule : verdict_rules()) text += wrapped(rule, "- ");
    text += "\n## Claims\n\n" + table_markdown(claims_table(report)) + "\n## Tables\n\n";
    for (const ReproducedTable& table : report.tables)
        text += wrapped(fmt::format("[{0}](tables/{0}.md) ([csv](tables/{0}.csv)): {1}. {2}",
                                    table.id, table.title, table.source),
                        "- ");
    return text + "\n[The page](report.html) has all of it with its figures.\n";
}

std::string reproduction_text(const ReproductionReport& report) {
    std::string text = table_text(verdict_table(report)) + "\n";
    for (const ReproducedClaim& claim : report.claims)
        text += fmt::format("{:>13}: {} {}\n", to_string(claim.verdict), claim.text,
                            claim.evidence.empty() ? "" : fmt::format("({})", claim.evidence));
    return text;
}

}  // namespace pibinn
