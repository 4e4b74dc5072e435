#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pibinn/progress.hpp"
#include "study/cell_result.hpp"
#include "study/cells.hpp"
#include "study/run_folder.hpp"

namespace pibinn::study {

/// A configuration and a seed, as somebody asks for it.
struct CellRequest {
    std::string folder;  ///< beneath that of the study
    std::string file;    ///< a configuration, or empty
    std::vector<std::string> settings;
    std::uint64_t seed = 1;
    std::string beside = {};  ///< a section of the file that is none of a configuration
};

/// A list of trainings of one seed each, every one in a folder of its own. A finished one is kept
/// as cell.json and model.safetensors and is not made again; one that was interrupted goes on from
/// its checkpoint.
class Study {
public:
    /// `kind` is written into study.json, so that no other study goes on in this folder.
    /// `device` is where every cell is trained, as TrainOptions::device. `commit` is the one that
    /// this program was built from, where it is known.
    Study(std::filesystem::path folder, std::string kind, std::string device = "cpu",
          std::string commit = {});

    /// The number of the cell. Reads the configuration and refuses what is wrong with it. A folder
    /// that is there already must be of the same configuration, and is not added again.
    std::size_t add(const CellRequest& request);

    /// The files and folders that its trainings read, each once.
    std::vector<std::string> inputs() const;

    std::size_t size() const { return runs_.size(); }
    const TrainingRun& run(std::size_t i) const { return runs_[i]; }
    /// How to make one cell by `pibinn train`.
    const std::string& command(std::size_t i) const { return runs_[i].command; }

    /// Refuses a folder that holds something else, is of another version, or whose cells are of
    /// another configuration. Nothing is made.
    void require_own_folder() const;
    /// Refuses a device that is not there before anything is made. What is finished needs none.
    void require_device() const;
    /// Trains what is left to train; false when the listener asked to stop. From then on the folder
    /// is this study's alone, so that its results are written beside no other study's. With several
    /// ranks all call this, and rank 0 alone has the results and answers true.
    bool train(const ProgressSink& listener, ThreadPool& pool, Communicator& ranks = alone());

    const CellResult& result(std::size_t i) const { return results_[i]; }
    std::size_t finished() const;
    /// Those of the programs that trained here, oldest first; known after train().
    const std::vector<std::string>& commits() const { return commits_; }

private:
    std::filesystem::path cell_file(std::size_t i) const { return runs_[i].folder / "cell.json"; }
    void load_finished();

    std::filesystem::path folder_;
    std::string kind_;
    std::string device_, commit_;
    std::vector<std::string> commits_;
    std::vector<TrainingRun> runs_;
    std::vector<std::string> configurations_;
    std::vector<CellResult> results_;
    std::optional<RunFolders> own_;  ///< its folder, while it trains and after
};

}  // namespace pibinn::study
