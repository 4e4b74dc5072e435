#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/folder.hpp"
#include "study/training_run.hpp"

namespace pibinn::study {

/// Where the files of one seed go: the run's own folder, or one of its own beneath.
std::filesystem::path seed_folder(const TrainingRun& run, std::size_t index);

/// Refuses, before any work, what cannot be done: a device that is not there, or a folder that
/// `require_own_folder` refuses.
void require_runnable(const TrainingRun& run);
/// Refuses a folder that holds a run, or, to resume, one that holds another run than this.
void require_own_folder(const TrainingRun& run);

/// The folders of runs, made where missing, known to be writable, and kept from other runs for as
/// long as this lives. Those that are still empty in the end go again: work that was refused leaves
/// nothing behind.
class RunFolders {
public:
    RunFolders() = default;
    explicit RunFolders(const TrainingRun& run) : RunFolders() { add(run); }
    ~RunFolders();
    RunFolders(const RunFolders&) = delete;
    RunFolders& operator=(const RunFolders&) = delete;

    void add(const TrainingRun& run);
    void add(const std::filesystem::path& folder);

private:
    void remove_empty() noexcept;

    std::vector<std::filesystem::path> added_;
    std::vector<FolderLock> locks_;            ///< of those
    std::vector<std::filesystem::path> made_;  ///< outer before inner
};

}  // namespace pibinn::study
