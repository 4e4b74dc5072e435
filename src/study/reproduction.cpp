#include "study/reproduction.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/folder.hpp"
#include "pibinn/error.hpp"
#include "pibinn/version.hpp"
#include "study/agreement.hpp"
#include "study/field_study.hpp"
#include "study/reproduction_plan.hpp"

namespace pibinn::study {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::string_view kPublished = "published";
constexpr const char* kFieldId = "field";

/// A folder of data is tried before hours of training, and how to get it is said.
void require_data(const ReproductionPlan& plan, const Study& study, ThreadPool& pool) {
    for (const auto& [need, how] :
         {std::pair{Need::images,
                    "--images takes a folder of pictures such as BSDS500/data/images, of the "
                    "Berkeley Segmentation Data Set 500 (BSR_bsds500.tgz)"},
          std::pair{Need::eeg,
                    "--eeg takes a folder with EEG_all_epochs.npy and EOG_all_epochs.npy, as in "
                    "the folder data of the public repository EEGdenoiseNet"}}) {
        const ExperimentRow* first = nullptr;
        for (const Experiment& experiment : plan.experiments())
            for (const ExperimentRow& row : experiment.rows)
                if (!first && row.need == need && plan.missing(row).empty()) first = &row;
        if (!first) continue;
        const ProblemKind kind = need == Need::images ? ProblemKind::images : ProblemKind::signals;
        for (std::size_t i = 0; i < study.size(); ++i)
            if (study.run(i).config.problem.kind == kind) {
                try {
                    seed_problem(study.run(i).config, 0, pool);
                } catch (const Error& error) {
                    throw Error(error.kind(), error.message(), how);
                }
                break;
            }
    }
}

std::optional<double> published_number(const ExperimentRow& row, const std::string& quantity) {
    const auto found = row.published.find(quantity);
    if (found == row.published.end()) return {};
    return found->second;
}

/// The judged number of one recipe beside the published one.
struct JudgedRow {
    Agreement agreement = Agreement::unjudged;
    std::optional<double> difference;
};

JudgedRow judge(const Quantity& quantity, const std::optional<double>& published,
                const std::optional<Spread>& ours, const ExperimentRow& row, bool missing) {
    if (!published) return {};
    if (missing) return {Agreement::absent, {}};
    if (!ours) return {};
    return {agreement_of(quantity, *published, ours->mean, !row.undetermined.empty()),
            ours->mean - *published};
}

ReproducedRow make_row(const ReproductionPlan& plan, const Experiment& experiment,
                       const ExperimentRow& row) {
    ReproducedRow made;
    made.label = row.label;
    made.folder = plan.folder(experiment, row);
    made.command = plan.command(experiment, row);
    const std::string missing = plan.missing(row);
    const auto add_note = [&made](const std::string& note) {
        if (!note.empty()) made.note += (made.note.empty() ? "" : "; ") + note;
    };
    if (missing.empty()) {
        add_note(row.undetermined);
        add_note(row.why);
    } else {
        add_note(missing);
    }
    add_note(plan.failures(experiment, row));
    const auto paper = plan.results(experiment, row, kPaper);
    const auto ours = plan.results(experiment, row, kDefault);
    const auto has = [&](std::string_view recipe) {
        return std::find(row.recipes.begin(), row.recipes.end(), recipe) != row.recipes.end();
    };
    const std::string& judged = row.judged.empty() ? experiment.judged : row.judged;
    for (const std::string& name : experiment.shown) {
        const Quantity quantity = find_quantity(name, experiment.id);
        const ReproducedNumber number{published_number(row, name), over_cells(paper, name),
                                      over_cells(ours, name)};
        made.numbers.push_back(number);
        if (name != judged) continue;
        const auto one = [&](std::string_view recipe, const std::optional<Spread>& value) {
            return has(recipe) ? judge(quantity, number.published, value, row, !missing.empty())
                               : JudgedRow{};
        };
        const JudgedRow by_paper = one(kPaper, number.paper),
                        by_default = one(kDefault, number.ours);
        made.paper = by_paper.agreement;
        made.paper_difference = by_paper.difference;
        made.ours = by_default.agreement;
        made.our_difference = by_default.difference;
    }
    return made;
}

Series make_series(const ReproductionPlan& plan, const Experiment& experiment,
                   const ExperimentSeries& wanted, std::size_t index) {
    Series series;
    series.label = wanted.label;
    series.color = index;
    series.style = Series::Style::line_points;
    if (!wanted.curve.empty()) {
        series.y =
            mean_curve(plan.results(experiment, experiment.row(wanted.rows.front()), wanted.recipe),
                       wanted.curve);
        for (std::size_t k = 0; k < series.y.size(); ++k)
            series.x.push_back(static_cast<double>(k + 1));
        return series;
    }
    for (const std::string& name : wanted.rows) {
        const ExperimentRow& row = experiment.row(name);
        const auto published = published_number(row, wanted.quantity);
        const auto measured =
            over_cells(plan.results(experiment, row, wanted.recipe), wanted.quantity);
        const bool of_paper = wanted.recipe == kPublished;
        if (!row.at || (of_paper ? !published : !measured)) continue;
        series.x.push_back(*row.at);
        series.y.push_back(of_paper ? *published : measured->mean);
    }
    if (wanted.recipe == kPublished) series.color = kGrey;
    return series;
}

ReproducedFigure make_figure(const ReproductionPlan& plan, const Experiment& experiment,
                             const ExperimentFigure& wanted) {
    ReproducedFigure made;
    made.name = wanted.name;
    made.figure.heading = wanted.heading;
    made.figure.caption = wanted.caption;
    Plot& plot = made.figure.plot;
    plot.x = {wanted.x, Axis::Scale::linear, {}, {}, true};
    plot.y.label = wanted.y;
    for (const ExperimentSeries& series : wanted.series)
        plot.series.push_back(make_series(plan, experiment, series, plot.series.size()));
    plot.height += 20 * plot.series.size();  // for the legend
    if (wanted.line) plot.lines.push_back({ReferenceLine::Direction::horizontal, *wanted.line, ""});
    return made;
}

ReproducedClaim make_claim(const ReproductionPlan& plan, const Experiment& experiment,
                           const ExperimentClaim& claim) {
    ReproducedClaim made{experiment.id, claim.text, "", ReproducedClaim::Verdict::unmeasured};
    const auto mean = [&](const std::string& row) {
        return over_cells(plan.results(experiment, experiment.row(row), claim.recipe),
                          claim.quantity);
    };
    const auto left = mean(claim.left);
    if (!left) return made;
    ComparedClaim compared{left->mean, {}, claim.below, 2};
    const Quantity quantity = find_quantity(claim.quantity, experiment.id);
    compared.digits = quantity.digits;
    if (claim.value) compared.right.push_back(*claim.value);
    for (const std::string& row : claim.right) {
        const auto value = mean(row);
        if (!value) return made;
        compared.right.push_back(claim.factor * value->mean + claim.margin);
    }
    made.evidence = fmt::format("{}: {}", quantity.title, compared.evidence());
    if (claim.factor != 1) made.evidence += fmt::format(" (that is {} of it)", claim.factor);
    if (claim.margin != 0) made.evidence += fmt::format(" (with {} added)", claim.margin);
    made.verdict =
        compared.holds() ? ReproducedClaim::Verdict::holds : ReproducedClaim::Verdict::fails;
    if (!compared.holds() && !claim.why.empty()) made.evidence += ". " + claim.why;
    return made;
}

ReproducedTable make_table(const ReproductionRequest& request, const ReproductionPlan& plan,
                           const Experiment& experiment) {
    ReproducedTable table;
    table.id = experiment.id;
    table.title = experiment.title;
    table.source = experiment.source;
    table.protocol = experiment.protocol;
    table.open = experiment.open;
    table.differs = experiment.differs;
    table.command = fmt::format(
        "pibinn reproduce {}{}{}{} --out DIR", experiment.id, request.quick ? " --quick" : "",
        request.seeds > 0 ? fmt::format(" --seeds {}", request.seeds) : "",
        request.device != "cpu" ? fmt::format(" --device {}", request.device) : "");
    table.has_paper = table.has_ours = false;
    std::set<std::string> stages;
    for (const std::string& name : experiment.shown) {
        const Quantity quantity = find_quantity(name, experiment.id);
        table.quantities.push_back({name, std::string(quantity.title), quantity.digits});
    }
    for (const ExperimentRow& row : experiment.rows) {
        table.rows.push_back(make_row(plan, experiment, row));
        for (const std::string& recipe : row.recipes) {
            (recipe == kPaper ? table.has_paper : table.has_ours) = true;
            const auto results = plan.results(experiment, row, recipe);
            table.seeds = std::max(table.seeds, results.size());
            if (!results.empty())
                stages.insert(fmt::format("recipe {}: {}", recipe, results.front()->stages));
        }
    }
    table.stages.assign(stages.begin(), stages.end());
    for (const ExperimentFigure& figure : experiment.figures)
        table.figures.push_back(make_figure(plan, experiment, figure));
    return table;
}

void write_reproduction(const ReproductionRequest& request, const ReproductionReport& report) {
    const auto write = [&](const std::string& name, const std::string& text) {
        write_file(request.folder / name, text);
    };
    for (const char* name : {"tables", "figures"}) make_folder(request.folder / name);
    for (const ReproducedTable& table : report.tables) {
        write(fmt::format("tables/{}.md", table.id), reproduced_markdown(table, report));
        write(fmt::format("tables/{}.csv", table.id), reproduced_csv(table));
        for (const ReproducedFigure& figure : table.figures) try {
                write(fmt::format("figures/{}.svg", figure.name), plot_svg(figure.figure.plot));
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::io) throw;  // no gnuplot: the page says so
            }
    }
    write("results.md", summary_markdown(report));
    write("report.html", reproduction_page(report));
    write("reproduction.json", reproduction_json(report).dump(2) + "\n");
}

void reproduce_paper(const ReproductionRequest& request, const ProgressSink& progress,
                     ThreadPool& pool, Communicator& ranks, ReproductionResult& result) {
    Study study(request.folder, request.quick ? "a quick reproduction" : "a reproduction",
                request.device, request.commit);
    const ReproductionPlan plan(request, study);
    if (ranks.first()) study.require_own_folder();
    require_data(plan, study, pool);
    result.cells = study.size();
    result.finished = study.train(progress, pool, ranks);
    result.done = study.finished();
    if (!result.finished || !ranks.first()) return;
    ReproductionReport& report = result.report;
    report.quick = request.quick;
    report.trainings = study.size();
    report.machine = request.machine;
    report.date = request.date;
    report.command = request.command + " --out DIR";
    report.version = version();
    report.commits = study.commits();
    for (std::size_t i = 0; i < study.size(); ++i)
        report.core_seconds += study.result(i).number("seconds").value_or(0);
    for (const Experiment& experiment : plan.experiments()) {
        report.tables.push_back(make_table(request, plan, experiment));
        report.seeds = std::max(report.seeds, report.tables.back().seeds);
        for (const ExperimentClaim& claim : experiment.claims)
            report.claims.push_back(make_claim(plan, experiment, claim));
    }
    write_reproduction(request, report);
}

/// The field's benchmark is a study of its own kind, with its own page.
void reproduce_field(const ReproductionRequest& request, const ProgressSink& progress,
                     ThreadPool& pool, Communicator& ranks, ReproductionResult& result) {
    FieldStudy study;
    study.quick = request.quick;
    study.seeds = request.seeds;
    study.device = request.device;
    study.folder = request.folder / kFieldId;
    study.machine = request.machine;
    study.date = request.date;
    study.command = request.command;
    FieldResult field = run_field(study, progress, pool, ranks);
    result.finished = field.finished;
    result.done += field.done;
    result.cells += field.cases;
    if (field.finished) result.field = std::move(field.report);
}

}  // namespace

ReproductionResult reproduce(const ReproductionRequest& asked, const ProgressSink& progress,
                             ThreadPool& pool, Communicator& ranks) {
    ReproductionRequest request = asked;
    const bool field = std::erase(request.ids, kFieldId) > 0;
    ReproductionResult result;
    if (!field || !request.ids.empty()) reproduce_paper(request, progress, pool, ranks, result);
    // A rank that was told to stop by itself would otherwise leave the others waiting.
    const bool go_on = ranks.broadcast_text(result.finished ? "yes" : "no") == "yes";
    if (field && go_on) reproduce_field(request, progress, pool, ranks, result);
    return result;
}

}  // namespace pibinn::study
