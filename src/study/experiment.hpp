#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pibinn::study {

/// What a row of an experiment cannot do without.
enum class Need { nothing, images, eeg, gpu };

/// The recipes by which a row is trained: the published one, and ours.
inline constexpr std::string_view kPaper = "paper";
inline constexpr std::string_view kDefault = "default";

/// One line of a published table, and how it is trained here.
struct ExperimentRow {
    std::string name;          ///< of its folder
    std::string label;         ///< in tables
    std::optional<double> at;  ///< its place on the horizontal axis of figures
    std::vector<std::string> settings, paper_settings, default_settings;
    std::vector<std::string> recipes{std::string(kPaper), std::string(kDefault)};
    std::map<std::string, double> published;  ///< by quantity
    Need need = Need::nothing;
    std::string of;              ///< "ID/row" whose trainings these are; empty for its own
    std::string undetermined;    ///< why the paper does not fix this number
    std::string why;             ///< what was found about a difference; verdicts stay
    std::string judged;          ///< instead of the experiment's
    std::size_t most_seeds = 0;  ///< instead of the experiment's
    bool quick = true;           ///< part of a quick reproduction
};

/// One curve of a figure: a quantity against the places of rows, or a curve of one row against its
/// layers.
struct ExperimentSeries {
    std::string label;
    std::vector<std::string> rows;
    std::string recipe;    ///< or "published"
    std::string quantity;  ///< against the places of the rows
    std::string curve;     ///< or this, against the layers of the one row
};

struct ExperimentFigure {
    std::string name;  ///< of its file
    std::string heading, caption, x, y;
    std::vector<ExperimentSeries> series;
    std::optional<double> line;  ///< a horizontal one
};

/// A statement of the paper in words, as a comparison of numbers.
struct ExperimentClaim {
    std::string text;
    std::string left;            ///< a row
    std::string recipe{kPaper};  ///< of both sides
    std::string quantity;
    bool below = true;               ///< left is below every right side, else above
    std::vector<std::string> right;  ///< rows
    std::optional<double> value;     ///< or a number
    double factor = 1;               ///< of the right side
    double margin = 0;               ///< added to it
    std::string why;                 ///< shown where it does not hold: what was found about it
};

/// One table of the paper with its figures and claims: a file of experiments/.
struct Experiment {
    std::string id;
    std::string title, source, protocol;
    std::vector<std::string> open;     ///< what the paper leaves open, and what was chosen
    std::vector<std::string> differs;  ///< what is known to differ, a paragraph each
    std::vector<std::string> settings, paper_settings, default_settings, quick_settings;
    std::vector<std::string> shown;  ///< quantities, in the order of the table
    std::string judged;              ///< the one of these that verdicts are about
    std::size_t most_seeds = 0;      ///< 0: as many as are asked for
    bool extra = false;              ///< beyond the paper: made only where it is named
    std::vector<ExperimentRow> rows;
    std::vector<ExperimentFigure> figures;
    std::vector<ExperimentClaim> claims;

    const ExperimentRow& row(const std::string& name) const;  ///< a usage error for others
};

/// Reads a file of experiments/. `where` is its name in messages.
Experiment read_experiment(std::string id, const std::string& text, const std::string& where);

/// The experiments that the program carries, in the order of the paper.
std::vector<std::string> experiment_ids();
Experiment load_experiment(const std::string& id);

}  // namespace pibinn::study
