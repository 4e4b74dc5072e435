#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pibinn/communicator.hpp"
#include "pibinn/progress.hpp"
#include "pibinn/thread_pool.hpp"
#include "report/field_report.hpp"
#include "report/reproduction_report.hpp"

namespace pibinn::study {

/// What of the paper to make again.
struct ReproductionRequest {
    /// Of experiments; empty or "all": every one. "field" is the field's benchmark (run_field).
    std::vector<std::string> ids;
    std::size_t seeds = 0;       ///< of each training; 0: 5, or 1 of a quick run
    bool quick = false;          ///< few signals and epochs: minutes for all
    std::string images, eeg;     ///< folders of real data; empty: those rows are marked
    std::string device = "cpu";  ///< as TrainOptions::device; rows of a GPU need "cuda..."
    std::filesystem::path folder;
    std::string machine, date;
    std::string command;  ///< that makes it again, without its folder
    std::string commit;   ///< that this program was built from; empty: not known
};

struct ReproductionResult {
    bool finished = true;             ///< false when the progress sink asked to stop
    std::size_t done = 0, cells = 0;  ///< trainings
    ReproductionReport report;
    std::optional<FieldReport> field;  ///< where it was asked for; its files are in field/
};

/// Trains every row of the experiments that is not there yet, and writes results.md, report.html,
/// tables/ID.md, tables/ID.csv, figures/NAME.svg and reproduction.json. Trainings that several
/// experiments show are made once. What an earlier start has finished is kept.
/// With several ranks all call this, and rank 0 alone has the result.
ReproductionResult reproduce(const ReproductionRequest& request, const ProgressSink& progress,
                             ThreadPool& pool, Communicator& ranks = alone());

/// reproduction.json
nlohmann::ordered_json reproduction_json(const ReproductionReport& report);

}  // namespace pibinn::study
