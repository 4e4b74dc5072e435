#include "study/run_folder.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "algebra/backend.hpp"
#include "core/path.hpp"
#include "core/temporary_file.hpp"
#include "pibinn/error.hpp"

namespace pibinn::study {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpoint = "checkpoint.safetensors";
constexpr std::array<const char*, 5> kFiles{kCheckpoint, "model.safetensors", "history.csv",
                                            "summary.json", "report.html"};
constexpr std::array<const char*, 5> kOtherFiles{"compare.json", "compare.csv", "field.json",
                                                 "field.html", "case.json"};
constexpr std::string_view kSeedPrefix = "seed-";

bool holds_a_run(const fs::path& folder) {
    return std::any_of(kFiles.begin(), kFiles.end(),
                       [&](const char* name) { return path_exists(folder / name); });
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code code;
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
        entries.push_back(at->path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

/// The folders of seeds beneath a folder that hold a run.
std::vector<fs::path> seeds_in(const fs::path& folder) {
    std::vector<fs::path> held;
    for (const fs::path& entry : entries_of(folder))
        if (entry.filename().string().starts_with(kSeedPrefix) && holds_a_run(entry))
            held.push_back(entry);
    return held;
}

/// What a program that was killed while it wrote could not remove itself.
void clean(const fs::path& folder) {
    std::vector<std::string> files(kFiles.begin(), kFiles.end());
    files.insert(files.end(), kOtherFiles.begin(), kOtherFiles.end());
    remove_leftovers(folder, files);
}

/// Makes the folder and keeps it. Nothing where another run has it.
std::optional<FolderLock> make_and_lock(const fs::path& folder) {
    while (true) {
        make_folder(folder);
        std::optional<FolderLock> lock = FolderLock::take(folder);
        // Another run that was refused may have removed the folder in between: again.
        if (!lock || !lock->lost()) return lock;
    }
}

void require_resumable(const TrainingRun& run) {
    const std::string same =
        "resume with the same configuration, or choose another RunOptions::folder";
    std::vector<fs::path> ours;
    for (std::size_t i = 0; i < run.train.seeds; ++i) ours.push_back(seed_folder(run, i));
    for (const fs::path& folder : seeds_in(run.folder))
        if (std::find(ours.begin(), ours.end(), folder) == ours.end())
            fail_usage(fmt::format("'{}' is of a seed that this run of {} seed(s) from {} has not",
                                   folder.string(), run.train.seeds, run.config.seed),
                       same);
    bool any = false;
    for (const fs::path& folder : ours) {
        if (!holds_a_run(folder)) continue;
        any = true;
        if (!path_exists(folder / kCheckpoint))
            fail_usage(fmt::format("'{}' holds results but no {}", folder.string(), kCheckpoint),
                       "there is nothing to go on with: choose another RunOptions::folder");
    }
    if (run.train.seeds > 1 && holds_a_run(run.folder) &&
        (!any || path_exists(run.folder / kCheckpoint)))
        fail_usage(fmt::format("'{}' holds a run of another number of seeds: train.seeds is now {}",
                               run.folder.string(), run.train.seeds),
                   same);
}

}  // namespace

fs::path seed_folder(const TrainingRun& run, std::size_t index) {
    if (run.train.seeds == 1) return run.folder;
    return run.folder / fmt::format("{}{}", kSeedPrefix, run.config.seed + index);
}

void require_runnable(const TrainingRun& run) {
    make_backend(run.device);
    require_own_folder(run);
}

void require_own_folder(const TrainingRun& run) {
    if (run.resume) return require_resumable(run);
    if (holds_a_run(run.folder) || !seeds_in(run.folder).empty())
        fail_usage(
            fmt::format("'{}' already holds a run", run.folder.string()),
            "choose another RunOptions::folder, or set RunOptions::resume to go on with that run");
}

void RunFolders::add(const TrainingRun& run) {
    add(run.folder);
    for (std::size_t i = 0; i < run.train.seeds; ++i) add(seed_folder(run, i));
    // Another run may have ended here between the first look and the lock.
    if (!run.replaces) require_own_folder(run);
}

void RunFolders::add(const fs::path& folder) {
    if (std::find(added_.begin(), added_.end(), folder) != added_.end()) return;
    std::vector<fs::path> missing;
    for (fs::path at = folder; !at.empty() && !path_exists(at); at = at.parent_path())
        missing.push_back(at);
    made_.insert(made_.end(), missing.rbegin(), missing.rend());
    std::optional<FolderLock> lock = make_and_lock(folder);
    if (!lock) {
        std::erase(made_, folder);  // the other run's, though it be empty yet
        fail_usage(fmt::format("'{}' is in use by another run", folder.string()),
                   "wait until that run ends, or choose another RunOptions::folder");
    }
    locks_.push_back(std::move(*lock));
    added_.push_back(folder);
    clean(folder);
    require_writable(folder / kCheckpoint);
}

RunFolders::~RunFolders() { remove_empty(); }

void RunFolders::remove_empty() noexcept {
    std::error_code code;
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder)
        if (fs::is_directory(*folder, code)) fs::remove(*folder, code);
}

}  // namespace pibinn::study
