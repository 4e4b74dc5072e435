#include "study/reproduction_plan.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "study/config_document.hpp"
#include "study/config_train.hpp"

namespace pibinn::study {

namespace {

constexpr std::size_t kUsualSeeds = 5;
constexpr std::size_t kQuickEpochs = 3;  // of every stage

std::vector<std::string> chosen_ids(const std::vector<std::string>& asked) {
    std::vector<std::string> ids;
    if (asked.empty() || asked == std::vector<std::string>{"all"}) {
        for (const std::string& id : experiment_ids())
            if (!load_experiment(id).extra) ids.push_back(id);
        return ids;
    }
    for (const std::string& id : asked) {
        if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
        load_experiment(id);  // refuses what is not there
        ids.push_back(id);
    }
    return ids;
}

/// Settings that cut every stage of a configuration short.
std::vector<std::string> short_stages(const std::vector<std::string>& settings) {
    const ConfigDocument document("", settings);
    Config config = read_config(document);
    std::vector<std::string> shorter;
    for (const Stage& stage : read_train_config(document, config, true).recipe.stages)
        shorter.push_back(fmt::format("train.stage.{}.epochs={}", stage.name,
                                      std::min(stage.epochs, kQuickEpochs)));
    return shorter;
}

}  // namespace

std::string ReproductionPlan::Trained::key(std::string_view recipe) const {
    return fmt::format("{}/{}/{}", experiment->id, row->name, recipe);
}

ReproductionPlan::ReproductionPlan(const ReproductionRequest& request, Study& study)
    : request_(request), study_(study) {
    for (const std::string& id : chosen_ids(request.ids))
        experiments_.push_back(load_experiment(id));
    for (const std::string& id : experiment_ids()) all_.push_back(load_experiment(id));
    for (const Experiment& experiment : experiments_)
        for (const ExperimentRow& row : experiment.rows)
            if (missing(row).empty())
                for (const std::string& recipe : row.recipes) add_cells(experiment, row, recipe);
}

const Experiment& ReproductionPlan::any_experiment(const std::string& id) const {
    for (const Experiment& experiment : all_)
        if (experiment.id == id) return experiment;
    fail_usage(fmt::format("a row names the experiment '{}', which is not there", id),
               "name one of experiments/");
}

ReproductionPlan::Trained ReproductionPlan::trained(const Experiment& experiment,
                                                    const ExperimentRow& row) const {
    if (row.of.empty()) return {&experiment, &row};
    const std::size_t slash = row.of.find('/');
    const Experiment& other = any_experiment(row.of.substr(0, slash));
    return trained(other, other.row(row.of.substr(slash + 1)));
}

std::string ReproductionPlan::missing(const ExperimentRow& row) const {
    switch (row.need) {
        case Need::nothing:
            break;
        case Need::images:
            if (request_.images.empty()) return "needs pictures: --images FOLDER";
            break;
        case Need::eeg:
            if (request_.eeg.empty()) return "needs EEG: --eeg FOLDER";
            break;
        case Need::gpu:
            if (request_.device == "cpu") return "needs a GPU: --device cuda";
            break;
    }
    return request_.quick && !row.quick ? "not in a quick run" : "";
}

std::size_t ReproductionPlan::seeds(const Experiment& experiment, const ExperimentRow& row) const {
    const std::size_t asked = request_.seeds > 0 ? request_.seeds
                              : request_.quick   ? 1
                                                 : kUsualSeeds;
    const std::size_t most = row.most_seeds > 0 ? row.most_seeds : experiment.most_seeds;
    return most > 0 ? std::min(asked, most) : asked;
}

std::vector<std::string> ReproductionPlan::settings(const Trained& of,
                                                    std::string_view recipe) const {
    const auto [experiment, row] = of;
    const bool paper = recipe == kPaper;
    std::vector<std::string> all = experiment->settings;
    const auto add = [&](const std::vector<std::string>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    add(paper ? experiment->paper_settings : experiment->default_settings);
    add(row->settings);
    add(paper ? row->paper_settings : row->default_settings);
    if (row->need == Need::images) all.push_back("problem.path=" + request_.images);
    if (row->need == Need::eeg) all.push_back("problem.path=" + request_.eeg);
    if (request_.quick) {
        add(experiment->quick_settings);
        add(short_stages(all));
    }
    return all;
}

void ReproductionPlan::add_cells(const Experiment& experiment, const ExperimentRow& row,
                                 std::string_view recipe) {
    const Trained of = trained(experiment, row);
    std::vector<std::size_t>& cells = cells_[of.key(recipe)];
    for (std::size_t i = cells.size(); i < seeds(*of.experiment, *of.row); ++i) try {
            cells.push_back(study_.add({fmt::format("{}/seed-{}", of.key(recipe), i + 1), "",
                                        settings(of, recipe), i + 1}));
        } catch (const Error& error) {
            throw Error(error.kind(), fmt::format("{}: {}", of.key(recipe), error.message()),
                        error.hint());
        }
}

std::vector<const CellResult*> ReproductionPlan::results(const Experiment& experiment,
                                                         const ExperimentRow& row,
                                                         std::string_view recipe) const {
    std::vector<const CellResult*> results;
    if (std::find(row.recipes.begin(), row.recipes.end(), recipe) == row.recipes.end() ||
        !missing(row).empty())
        return results;
    const auto found = cells_.find(trained(experiment, row).key(recipe));
    if (found == cells_.end()) return results;
    for (const std::size_t cell : found->second)
        if (study_.result(cell).failure.empty()) results.push_back(&study_.result(cell));
    return results;
}

std::string ReproductionPlan::failures(const Experiment& experiment,
                                       const ExperimentRow& row) const {
    std::string words;
    for (const std::string& recipe : row.recipes) {
        const auto found = cells_.find(trained(experiment, row).key(recipe));
        if (found == cells_.end() || !missing(row).empty()) continue;
        std::size_t failed = 0;
        std::string why;
        for (const std::size_t cell : found->second)
            if (const std::string& failure = study_.result(cell).failure; !failure.empty()) {
                ++failed;
                why = failure;
            }
        if (failed > 0)
            words +=
                fmt::format("{}recipe {}: {} of {} seeds failed ({})", words.empty() ? "" : "; ",
                            recipe, failed, found->second.size(), why);
    }
    return words;
}

std::string ReproductionPlan::folder(const Experiment& experiment, const ExperimentRow& row) const {
    if (!missing(row).empty()) return {};
    const Trained of = trained(experiment, row);
    return fmt::format("{}/{}", of.experiment->id, of.row->name);
}

std::string ReproductionPlan::command(const Experiment& experiment,
                                      const ExperimentRow& row) const {
    if (!missing(row).empty()) return {};
    const auto found = cells_.find(trained(experiment, row).key(row.recipes.front()));
    if (found == cells_.end()) return {};
    std::string words = study_.command(found->second.front());
    // A published command names no folder of this machine.
    for (const auto& [need, data, word] : {std::tuple{Need::images, &request_.images, "IMAGES"},
                                           std::tuple{Need::eeg, &request_.eeg, "EEG"}})
        if (row.need == need)
            if (const std::size_t at = words.find("problem.path=" + *data); at != std::string::npos)
                words.replace(at + 13, data->size(), word);
    return words;
}

}  // namespace pibinn::study
