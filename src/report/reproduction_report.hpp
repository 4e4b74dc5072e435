#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/numbers.hpp"
#include "core/table.hpp"
#include "report/html.hpp"

namespace pibinn {

/// How a number of ours stands to the published one.
enum class Agreement {
    matches,
    better,
    worse,
    differs,       ///< of a number that is neither good nor bad
    undetermined,  ///< worse or different, and the paper does not fix it
    absent,        ///< not trained: data or a GPU is missing
    unjudged       ///< nothing is published
};
std::string_view to_string(Agreement agreement);

/// One number of a table, as it is shown: "-19.04", "-18.43 ± 0.48", a dash.
struct ReproducedNumber {
    std::optional<double> published;
    std::optional<Spread> paper, ours;  ///< by recipe `paper`, and by `default`
};

struct ReproducedRow {
    std::string label;
    std::vector<ReproducedNumber> numbers;  ///< one per quantity of the table
    Agreement paper = Agreement::unjudged, ours = Agreement::unjudged;
    std::optional<double> paper_difference, our_difference;  ///< of the judged quantity
    std::string note;                                        ///< why a number is not there, or open
    std::string folder;                                      ///< of its trainings
    std::string command;                                     ///< of the first of them
};

/// A quantity of a table: its title and how it is written.
struct ReproducedQuantity {
    std::string name, title;
    int digits = 2;  ///< none: a whole number in groups of three
};

/// A figure, and the name of its file.
struct ReproducedFigure {
    std::string name;
    Figure figure;
};

struct ReproducedTable {
    std::string id, title, source, protocol, command;
    std::vector<std::string> open, differs, stages;
    std::vector<ReproducedQuantity> quantities;
    std::vector<ReproducedRow> rows;
    std::vector<ReproducedFigure> figures;
    std::size_t seeds = 0;                   ///< of most rows
    bool has_paper = true, has_ours = true;  ///< columns that some row fills
};

/// A statement of the paper in words, and what was measured.
struct ReproducedClaim {
    enum class Verdict { holds, fails, unmeasured };

    std::string id, text, evidence;
    Verdict verdict = Verdict::unmeasured;
};
std::string_view to_string(ReproducedClaim::Verdict verdict);

/// All that the page of a reproduction tells: plain data, made by whoever ran it.
struct ReproductionReport {
    std::vector<ReproducedTable> tables;
    std::vector<ReproducedClaim> claims;
    std::size_t seeds = 1, trainings = 0;
    bool quick = false;
    double core_seconds = 0;  ///< of all trainings
    std::string machine, date, command, version;
    std::vector<std::string> commits;  ///< of the programs that trained, where known

    /// "version 0.1.0, commit 0123456789"
    std::string made_by() const;
};

/// The rule of the verdicts, a sentence each.
std::vector<std::string> verdict_rules();

/// What the numbers of a table are, in their order.
std::string quantity_titles(const ReproducedTable& table);
/// A table as the page and Markdown show it.
Table reproduced_table(const ReproducedTable& table);
Table claims_table(const ReproductionReport& report);
/// How many rows of each table match, are better, and so on.
Table verdict_table(const ReproductionReport& report);

/// The table of an experiment with its protocol, as Markdown.
std::string reproduced_markdown(const ReproducedTable& table, const ReproductionReport& report);
/// One line per row and quantity.
std::string reproduced_csv(const ReproducedTable& table);
/// All verdicts and claims, as Markdown.
std::string summary_markdown(const ReproductionReport& report);
/// Verdicts and claims for a terminal.
std::string reproduction_text(const ReproductionReport& report);

/// The HTML page of a reproduction.
std::string reproduction_page(const ReproductionReport& report);

}  // namespace pibinn
