#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pibinn/communicator.hpp"
#include "pibinn/progress.hpp"
#include "pibinn/thread_pool.hpp"
#include "report/grid_report.hpp"

namespace pibinn::study {

/// A configuration with lists of values in it: every combination is trained.
struct GridStudy {
    std::string file;                   ///< a configuration with a section [grid]
    std::vector<std::string> settings;  ///< over the configuration
    std::size_t seeds = 0;              ///< of each combination; 0: as the configuration says
    bool many = false;                  ///< more than 1000 trainings are meant
    std::string device = "cpu";         ///< as TrainOptions::device
    std::filesystem::path folder;
    std::string machine, date;
    std::string command;  ///< that makes it again, without its folder
    /// Hears which files the trainings read, before anything is made, and may refuse them.
    std::function<void(const std::vector<std::string>&)> inputs_known = {};
};

struct GridResult {
    bool finished = true;             ///< false when the progress sink asked to stop
    std::size_t done = 0, cells = 0;  ///< trainings
    GridReport report;
};

/// The files that a study writes beside the folders of its trainings.
const std::vector<std::string>& grid_files();

/// Trains what is not there yet, and writes results.csv, results.md, results.json and report.html.
/// With several ranks all call this, and rank 0 alone has the result.
GridResult run_grid(const GridStudy& study, const ProgressSink& progress, ThreadPool& pool,
                    Communicator& ranks = alone());

/// results.json
nlohmann::ordered_json grid_json(const GridReport& report);

}  // namespace pibinn::study
