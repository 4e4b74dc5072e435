#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pibinn/communicator.hpp"
#include "pibinn/progress.hpp"
#include "report/schemes_report.hpp"
#include "study/config.hpp"
#include "study/schemes.hpp"

namespace pibinn::study {

class ConfigDocument;

/// Several networks on one problem, each a training of its own in a folder of its own.
struct SchemeStudy {
    SchemeChoice choice;
    std::size_t seeds = 0;  ///< of each network; 0: as the configuration says
    std::filesystem::path folder;
    bool resume = false;
    std::string command;  ///< that makes it again, without its folder
};

struct SchemeResult {
    bool finished = true;  ///< false when the progress sink asked to stop
    std::size_t trained = 0, schemes = 0;
    SchemesReport report;
    std::vector<std::string> folders;  ///< of each row of the report
    std::size_t seeds = 1;
};

/// Trains all seeds of all schemes side by side, and writes compare.json, compare.csv, report.html
/// and a run folder per scheme. A scheme that an earlier start has finished goes on from its last
/// checkpoint, where nothing is left to train.
SchemeResult compare_schemes(const SchemeStudy& study, const Config& config,
                             const ConfigDocument& document, const ProgressSink& progress,
                             ThreadPool& pool, Communicator& ranks = alone());

/// compare.json
nlohmann::ordered_json scheme_json(const SchemeResult& result);

}  // namespace pibinn::study
