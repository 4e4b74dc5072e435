#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pibinn/communicator.hpp"
#include "pibinn/progress.hpp"
#include "pibinn/thread_pool.hpp"
#include "report/field_report.hpp"

namespace pibinn::study {

/// The field's benchmark: many trainings, each in a folder of its own, and the methods that need
/// none, on the problems of the same seeds.
struct FieldStudy {
    bool quick = false;                 ///< the miniature
    std::string networks;               ///< names with commas; empty: all (field_cases.hpp)
    std::size_t seeds = 0;              ///< of each network; 0: as the settings say
    std::size_t reference_seeds = 0;    ///< of the methods that need no training; 0: as networks
    std::vector<std::string> settings;  ///< of every configuration
    std::string device = "cpu";         ///< where networks are trained, as TrainOptions::device
    std::filesystem::path folder;
    std::string machine, date;
    std::string command;  ///< that makes it again, without its folder
};

struct FieldResult {
    bool finished = true;             ///< false when the progress sink asked to stop
    std::size_t done = 0, cases = 0;  ///< trainings and problems
    FieldReport report;
};

/// Measures the references, trains network after network, and writes field.json and field.html. A
/// case is kept as soon as it is finished: what an earlier start has left in the folder is not done
/// again, and an interrupted training goes on from its checkpoint. A folder that holds something
/// else, or a case of another configuration, is refused before anything is made.
/// With several ranks all call this, each takes the next case when it is free, and rank 0 alone has
/// the result.
FieldResult run_field(const FieldStudy& study, const ProgressSink& progress, ThreadPool& pool,
                      Communicator& ranks = alone());

/// field.json
nlohmann::ordered_json field_json(const FieldReport& report);

}  // namespace pibinn::study
