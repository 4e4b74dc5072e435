#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "network_spec.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/error.hpp"
#include "pibinn/train.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

using nb::literals::operator""_a;

SignalClass class_of(const nb::dict& words) {
    SignalClass signals;
    if (words.contains("supports"))
        signals.supports = nb::cast<std::vector<std::vector<std::uint32_t>>>(words["supports"]);
    if (words.contains("size")) signals.size = nb::cast<std::size_t>(words["size"]);
    if (words.contains("norm")) signals.norm = nb::cast<double>(words["norm"]);
    if (words.contains("noise")) signals.noise = nb::cast<double>(words["noise"]);
    return signals;
}

/// What the caller says differently than the recipe that the program would choose.
void change_recipe(const nb::dict& words, Recipe& recipe) {
    const auto text = [&](const char* key) { return nb::cast<std::string>(words[key]); };
    if (words.contains("augment")) recipe.augment = parse_augment(text("augment"));
    if (words.contains("loss")) recipe.loss = parse_loss(text("loss"));
    if (words.contains("batch")) recipe.batch = nb::cast<std::size_t>(words["batch"]);
    if (words.contains("validation")) recipe.validation = nb::cast<double>(words["validation"]);
    if (words.contains("guarantee"))
        recipe.guarantee = class_of(nb::cast<nb::dict>(words["guarantee"]));
    if (words.contains("polish")) recipe.choose_polish = false;
    for (Stage& stage : recipe.stages) {
        if (words.contains("max_epochs"))
            stage.epochs = std::min(stage.epochs, nb::cast<std::size_t>(words["max_epochs"]));
        if (words.contains("learning_rate")) {
            stage.learning_rate = nb::cast<double>(words["learning_rate"]);
            stage.fit_rate = false;
        }
    }
}

nb::dict history_of(const std::vector<EpochRecord>& records, const Recipe& recipe) {
    std::vector<std::string> stage;
    std::vector<std::size_t> epoch;
    std::vector<double> rate, loss, test;
    for (const EpochRecord& record : records) {
        stage.push_back(recipe.stages[record.stage].name);
        epoch.push_back(record.epoch);
        rate.push_back(record.rate);
        loss.push_back(record.loss);
        test.push_back(record.test_nmse_db);
    }
    nb::dict history;
    history["stage"] = nb::cast(stage);
    history["epoch"] = nb::cast(epoch);
    history["learning_rate"] = nb::cast(rate);
    history["loss"] = nb::cast(loss);
    history["test_nmse_db"] = nb::cast(test);
    return history;
}

nb::dict to_dict(const TrainResult& result, const Recipe& recipe) {
    nb::dict words;
    words["model"] = nb::cast(result.model);
    words["history"] = history_of(result.history, recipe);
    words["warnings"] = nb::cast(result.warnings);
    words["train_nmse_db"] = result.train.nmse_db;
    words["test_nmse_db"] = result.test.nmse_db;
    words["train_nmse_db_per_layer"] = nb::cast(result.train_nmse_db_per_layer);
    words["test_nmse_db_per_layer"] = nb::cast(result.test_nmse_db_per_layer);
    words["seconds"] = nb::cast(result.seconds);
    words["augment"] = std::string(to_string(result.augment));
    words["validation"] = result.validation;
    words["guarantee"] = nb::none();
    if (result.guarantee) {
        nb::dict guarantee;
        guarantee["signals"] = in_words(result.guarantee->signals);
        guarantee["bound"] = result.guarantee->bound;
        guarantee["proven"] = result.guarantee->proven;
        words["guarantee"] = guarantee;
    }
    return words;
}

/// As train(problem, spec, options) of the library, with a recipe that may be changed.
nb::dict train_network(const Problem& problem, const nb::dict& spec, const std::string& recipe,
                       const nb::dict& changes, bool own_groups, bool own_centre,
                       std::uint64_t seed, const std::string& device,
                       const std::filesystem::path& folder, bool resume, std::size_t threads,
                       const nb::object& progress) {
    TrainJob job;
    job.problem = &problem;
    job.spec = fit_network(problem, network_for(recipe, spec_of(spec)), {own_groups, own_centre});
    job.recipe = recipe_for(problem, job.spec, recipe);
    change_recipe(changes, job.recipe);
    require_augment(job.recipe.augment, problem.traits());
    job.seed = seed;
    job.device = device;
    job.folder = folder;
    job.resume = resume;
    TrainResult result;
    run_stoppable(progress, [&](const ProgressSink& sink) {
        ThreadPool pool(threads);
        result = train(job, pool, sink);
        if (result.guarantee && result.guarantee->proven)
            keep_class(result.model, result.guarantee->signals);
    });
    return to_dict(result, job.recipe);
}

}  // namespace

void bind_training(nb::module_& core) {
    core.def("train", &train_network, "problem"_a, "spec"_a, "recipe"_a, "changes"_a,
             "own_groups"_a, "own_centre"_a, "seed"_a, "device"_a, "folder"_a, "resume"_a,
             "threads"_a, "progress"_a.none());
    core.def("usual_neighbours", [](const std::string& activation, bool on_grid) {
        return usual_neighbours(parse_activation(activation), on_grid);
    });
}

}  // namespace pibinn::python
