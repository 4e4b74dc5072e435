#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pibinn/metrics.hpp"
#include "pibinn/model.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/recipe.hpp"
#include "pibinn/train.hpp"
#include "report/comparison_table.hpp"

namespace pibinn {

/// What one seed gave.
struct SeedReport {
    std::uint64_t seed = 1;
    Metrics train, test;
    std::vector<double> train_nmse_db_per_layer, test_nmse_db_per_layer;
    std::vector<EpochRecord> history;
    std::vector<std::pair<std::string, double>> seconds;  ///< per stage
    double scale = 0;
    std::vector<float> theta, gain, beta, omega;  ///< model.hpp

    static SeedReport of(std::uint64_t seed, const TrainResult& result);
};

/// A signal of the test set and what became of it.
struct RecoveredSignal {
    std::string label;
    std::vector<float> truth, recovered;
    std::vector<float> contaminated = {};  ///< before it was measured, if that differs
    bool curve = false;      ///< drawn as lines, such as samples in time; otherwise single entries
    std::string site = {};   ///< what the places are, where not samples or entries
    std::string value = {};  ///< what is drawn there, where not their values
    /// Entries from here on count as found.
    std::optional<double> threshold = {};
};

/// All that the page of a training tells: plain data, made by whoever ran it.
struct TrainingReport {
    std::string problem;  ///< a line on signals and noise
    StructureKind structure = StructureKind::dense;
    std::size_t m = 0, n = 0;  ///< of the whole operator
    std::size_t repeat = 1;
    NetworkSpec spec;
    Recipe recipe;
    std::size_t links = 0;  ///< of all layers
    BitCount bits;
    std::string device;  ///< where it was trained, in words
    std::vector<SeedReport> seeds;
    std::vector<RecoveredSignal> signals;
    std::string picture_png;      ///< of recovered patches: the bytes of a PNG, or empty
    std::string picture_caption;  ///< what its rows are
    /// This network among other methods; the last row of ours is this network.
    std::vector<ComparisonRow> comparison;
    std::string command;  ///< that makes this run again
    std::string version;
};

/// The HTML page of one training run, of one seed or several.
std::string training_report(const TrainingReport& report);

}  // namespace pibinn
