#include "pibinn/study.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pibinn/error.hpp"
#include "pibinn/recoverer.hpp"
#include "study/config_document.hpp"
#include "study/config_train.hpp"
#include "study/evaluation_set.hpp"
#include "study/problem_source.hpp"
#include "study/run_folder.hpp"
#include "study/run_report.hpp"
#include "study/scheme_study.hpp"
#include "study/training_run.hpp"

namespace pibinn::study {

namespace {

ConfigDocument document_of(const Configuration& configuration) {
    return ConfigDocument(configuration.file, configuration.settings);
}

Config config_of(const Configuration& configuration, const ConfigDocument& document) {
    Config config = read_config(document);
    if (configuration.seed) config.seed = *configuration.seed;
    return config;
}

}  // namespace

Problem load_problem(const Configuration& configuration, ThreadPool& pool) {
    return make_problem(config_of(configuration, document_of(configuration)), pool);
}

Problem load_problem(const Configuration& configuration) {
    ThreadPool pool;
    return load_problem(configuration, pool);
}

Model untrained_model(const Configuration& configuration, double theta) {
    ThreadPool pool;
    const Config config = config_of(configuration, document_of(configuration));
    return untrained_model(config, problem_without_signals(config, pool), theta);
}

RunResult train(const Configuration& configuration, const RunOptions& options) {
    const ConfigDocument document = document_of(configuration);
    TrainingRun run;
    run.config = config_of(configuration, document);
    run.train = read_train_config(document, run.config);
    run.folder = options.folder;
    run.resume = options.resume;
    run.device = options.device;
    run.command = "pibinn train";
    require_runnable(run);
    const RunFolders folders(run);
    ThreadPool pool(options.threads);
    const TrainedRun trained = run_training(run, options.progress, pool);
    RunResult result;
    result.finished = trained.finished;
    if (!result.finished) return result;
    for (const SeedRun& seed : trained.seeds) result.models.push_back(seed.result.model);
    const Comparison comparison = compare_run(run, trained.seeds.front(), pool);
    result.summary = write_results(run, trained.seeds, comparison, pool).dump(2);
    return result;
}

RunResult compare(const Configuration& configuration, const SchemeChoice& choice, std::size_t seeds,
                  const RunOptions& options) {
    const ConfigDocument document = document_of(configuration);
    const Config config = config_of(configuration, document);
    ThreadPool pool(options.threads);
    const SchemeStudy study{choice, seeds, options.folder, options.resume, "pibinn compare"};
    const SchemeResult schemes = compare_schemes(study, config, document, options.progress, pool);
    RunResult result;
    result.finished = schemes.finished;
    if (!result.finished) return result;
    for (const std::string& folder : schemes.folders)
        result.models.push_back(Model::load(options.folder / folder / "model.safetensors"));
    result.summary = scheme_json(schemes).dump(2);
    return result;
}

DataSet evaluation_set(const Model& model, ConstBatchView signals, ConstBatchView measurements,
                       ThreadPool& pool) {
    if (signals.cols != model.op.cols())
        fail_input(fmt::format("expected {} signal entries per row, got {}", model.op.cols(),
                               signals.cols),
                   "give the signals of this model's problem");
    if (measurements.rows == 0 && model.spec.architecture == Architecture::fcn)
        fail_usage("a fully connected model holds no operator to measure the signals with",
                   "give their measurements");
    if (measurements.rows != 0 && measurements.cols != model.op.rows())
        fail_input(fmt::format("expected {} measurements per row, got {}", model.op.rows(),
                               measurements.cols),
                   "give the measurements of this model's operator");
    if (measurements.rows != 0 && measurements.rows != signals.rows)
        fail_input(fmt::format("{} signals but {} measurements", signals.rows, measurements.rows),
                   "row i of the measurements must belong to row i of the signals");
    DataSet set{model.domain.to_coefficients(signals, pool), Batch(signals.rows, model.op.rows())};
    if (measurements.rows == 0) {
        model.op.apply(set.x, set.y, pool);
        return set;
    }
    for (std::size_t i = 0; i < measurements.rows; ++i)
        std::copy_n(measurements.row(i).begin(), set.y.cols(), set.y.row(i).begin());
    return set;
}

Metrics evaluate(const Model& model, ConstBatchView signals, ConstBatchView measurements,
                 ThreadPool& pool) {
    const DataSet set = evaluation_set(model, signals, measurements, pool);
    return measure(set.x, Recoverer(model).coefficients(set.y, pool));
}

}  // namespace pibinn::study
