#include "study/cell_study.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algebra/backend.hpp"
#include "core/escape.hpp"
#include "core/file.hpp"
#include "core/folder.hpp"
#include "core/path.hpp"
#include "data/json_fields.hpp"
#include "pibinn/error.hpp"
#include "pibinn/version.hpp"
#include "study/config_document.hpp"
#include "study/config_train.hpp"
#include "train/checkpoint.hpp"

namespace pibinn::study {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kStudyFile = "study.json";
constexpr const char* kResultsFile = "results.md";  // a study's own beside study.json

std::string command_of(const CellRequest& request, const std::string& device) {
    std::string words = "pibinn train";
    if (!request.file.empty()) words += " " + shell_word(request.file);
    for (const std::string& setting : request.settings) words += " --set " + shell_word(setting);
    if (device != "cpu") words += " --device " + device;
    return words + fmt::format(" --seed {}", request.seed);
}

/// What study.json says.
struct StudyFile {
    std::string kind, version;
    std::vector<std::string> commits;
};

StudyFile read_study_file(const fs::path& file) {
    try {
        const nlohmann::json json =
            parse_json_object(read_file(file), fmt::format("'{}'", file.string()));
        return {json.at("kind").get<std::string>(), json.at("version").get<std::string>(),
                json.value("commits", std::vector<std::string>())};
    } catch (const nlohmann::json::exception&) {
        fail_input(fmt::format("'{}' is broken", file.string()),
                   "choose another RunOptions::folder");
    }
}

}  // namespace

Study::Study(fs::path folder, std::string kind, std::string device, std::string commit)
    : folder_(std::move(folder)),
      kind_(std::move(kind)),
      device_(std::move(device)),
      commit_(std::move(commit)) {}

std::size_t Study::add(const CellRequest& request) {
    const ConfigDocument document(request.file, request.settings, request.beside);
    TrainingRun run;
    run.config = read_config(document);
    run.config.seed = request.seed;
    run.train = read_train_config(document, run.config, true);
    run.train.seeds = 1;
    run.folder = folder_ / request.folder;
    run.resume = run.replaces = true;
    run.label = request.folder;
    run.device = device_;
    run.command = command_of(request, device_);
    std::string configuration =
        fmt::format("{}\n{}", run.command, recipe_identity(run.config.model, run.train.recipe));
    for (std::size_t i = 0; i < runs_.size(); ++i)
        if (runs_[i].folder == run.folder) {
            ensure(configurations_[i] == configuration, "one folder is of one configuration");
            return i;
        }
    runs_.push_back(std::move(run));
    configurations_.push_back(std::move(configuration));
    results_.emplace_back();
    return runs_.size() - 1;
}

std::vector<std::string> Study::inputs() const {
    std::set<std::string> all;
    for (const TrainingRun& run : runs_)
        for (const std::string& input : run.config.problem.inputs()) all.insert(input);
    all.erase("");
    return {all.begin(), all.end()};
}

void Study::require_own_folder() const {
    for (const char* name : {"model.safetensors", "checkpoint.safetensors", "compare.json",
                             "field.json", kResultsFile})
        if (path_exists(folder_ / name) &&
            (name != kResultsFile || !path_exists(folder_ / kStudyFile)))
            fail_usage(fmt::format("'{}' holds {}, which is of no study", folder_.string(), name),
                       "choose another RunOptions::folder");
    if (path_exists(folder_ / kStudyFile)) {
        const auto [kind, made_by, commits] = read_study_file(folder_ / kStudyFile);
        if (made_by != version())
            fail_usage(fmt::format("'{}' is of version {}, and this is {}", folder_.string(),
                                   made_by, version()),
                       "results of two versions do not mix: choose another RunOptions::folder");
        if (kind != kind_)
            fail_usage(fmt::format("'{}' holds {}, not {}", folder_.string(), kind, kind_),
                       "choose another RunOptions::folder");
    }
    for (std::size_t i = 0; i < size(); ++i)
        if (path_exists(cell_file(i)) &&
            load_cell(cell_file(i)).configuration != configurations_[i])
            fail_usage(fmt::format("'{}' is of another configuration", runs_[i].folder.string()),
                       "choose another RunOptions::folder, or remove this one to train it again");
}

void Study::load_finished() {
    for (std::size_t i = 0; i < size(); ++i)
        if (path_exists(cell_file(i))) results_[i] = load_cell(cell_file(i));
}

std::size_t Study::finished() const {
    return static_cast<std::size_t>(std::count_if(
        results_.begin(), results_.end(), [](const CellResult& r) { return r.finished(); }));
}

void Study::require_device() const {
    for (std::size_t i = 0; i < size(); ++i)
        if (!path_exists(cell_file(i))) {
            make_backend(device_);
            return;
        }
}

bool Study::train(const ProgressSink& listener, ThreadPool& pool, Communicator& ranks) {
    const bool started = path_exists(folder_ / kStudyFile);
    if (ranks.first()) {
        require_device();
        require_own_folder();
        if (!own_) own_.emplace().add(folder_);
        require_own_folder();  // nothing came in between
        if (path_exists(folder_ / kStudyFile))
            commits_ = read_study_file(folder_ / kStudyFile).commits;
        load_finished();
        if (finished() < size() && !commit_.empty() &&
            std::find(commits_.begin(), commits_.end(), commit_) == commits_.end())
            commits_.push_back(commit_);
        write_file(
            folder_ / kStudyFile,
            ordered_json{{"kind", kind_}, {"version", version()}, {"commits", commits_}}.dump(2) +
                "\n");
    }
    // What is finished, as rank 0 sees it.
    std::string kept_cells(size(), '0');
    for (std::size_t i = 0; i < size(); ++i)
        if (results_[i].finished()) kept_cells[i] = '1';
    kept_cells = ranks.broadcast_text(kept_cells);
    std::vector<Cell> left;
    std::vector<std::size_t> numbers;
    std::uint64_t kept = 0, total = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        const Cell cell{&runs_[i], 0, epoch_work(runs_[i].config)};
        total += cell.work * cell.epochs();
        if (kept_cells[i] == '1') {
            kept += cell.work * cell.epochs();
        } else {
            left.push_back(cell);
            numbers.push_back(i);
        }
    }
    // Where no data could be read, nothing is left behind.
    const auto forget = [&] {
        for (std::size_t i = 0; i < size(); ++i)
            if (path_exists(cell_file(i))) return;
        std::error_code code;
        if (ranks.first() && !started) fs::remove(folder_ / kStudyFile, code);
    };
    TrainingProgress progress(listener, total);
    if (kept > 0) progress.sink()({"training", kept, total, "", kept});
    std::set<std::size_t> elsewhere;
    try {
        elsewhere = run_cells(
            left,
            [&](std::size_t at) {
                auto problem = seed_problem(left[at].run->config, 0, pool);
                CellResult begun;
                begun.configuration = configurations_[numbers[at]];
                make_folder(left[at].run->folder);
                save_cell(cell_file(numbers[at]), begun);
                return problem;
            },
            [&](std::size_t at, SeedRun seed) {
                const std::size_t i = numbers[at];
                const TrainingRun& run = runs_[i];
                keep_seed(run, 0, seed, pool);
                seed.result.model.save(run.folder / "model.safetensors");
                CellResult result = digest(run, seed, pool);
                result.configuration = configurations_[i];
                save_cell(cell_file(i), result);
                results_[i] = std::move(result);
                // Nothing goes on from here, and hundreds of cells would fill a disk.
                std::error_code code;
                fs::remove(run.folder / "checkpoint.safetensors", code);
            },
            progress, pool,
            [&](std::size_t at, const Error& error) {
                CellResult& result = results_[numbers[at]];
                result.configuration = configurations_[numbers[at]];
                result.failure = error.message();
                save_cell(cell_file(numbers[at]), result);
            },
            ranks);
    } catch (const Error&) {
        forget();
        throw;
    }
    for (const std::size_t at : elsewhere) {
        const fs::path file = cell_file(numbers[at]);
        if (!path_exists(file))
            fail_io(
                fmt::format("there is no '{}', though another rank has finished it", file.string()),
                "all hosts need the same RunOptions::folder: put it on a shared file system");
        results_[numbers[at]] = load_cell(file);
    }
    return finished() == size();
}

}  // namespace pibinn::study
