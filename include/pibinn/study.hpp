// room: study
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pibinn/metrics.hpp"
#include "pibinn/model.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/progress.hpp"

/// What the program's verbs do with configurations and folders, for C++.
namespace pibinn::study {

/// A configuration: a TOML file and settings over it, both as on the program's command line.
/// Nothing at all is the embedded default (`pibinn config` prints it).
struct Configuration {
    std::string file = {};                   ///< empty for none
    std::vector<std::string> settings = {};  ///< "model.layers=10", ...; the last one wins
    std::optional<std::uint64_t> seed = {};  ///< instead of the configuration's
};

/// The operator, training and test sets that a configuration means.
Problem load_problem(const Configuration& configuration, ThreadPool& pool);
Problem load_problem(const Configuration& configuration);

/// `pibinn init`: the network of a configuration before any training, every threshold `theta`.
Model untrained_model(const Configuration& configuration, double theta = 0.1);

struct RunOptions {
    std::filesystem::path folder = {};  ///< made if missing; one with another run is refused
    bool resume = false;                ///< go on with the run that the folder holds
    std::string device = "cpu";         ///< where numbers live, as TrainOptions::device
    std::size_t threads = 0;            ///< 0: one per core
    ProgressSink progress = {};         ///< answers false to stop, which leaves checkpoints
};

struct RunResult {
    bool finished = true;       ///< false when the progress sink asked to stop
    std::vector<Model> models;  ///< one per seed
    std::string summary;        ///< JSON, as in summary.json or compare.json
};

/// `pibinn train`: trains every seed of a configuration and writes model.safetensors, summary.json,
/// history.csv and report.html.
RunResult train(const Configuration& configuration, const RunOptions& options);

/// Which networks to compare: words between commas, empty for all there are.
struct SchemeChoice {
    std::string weights = {};        ///< "one-bit,ternary"
    std::string structures = {};     ///< "repeated,dense"
    std::string architectures = {};  ///< "unrolled,fcn-relu,fcn-soft"
};

/// `pibinn compare`: trains several networks on the problem of a configuration, each in a folder of
/// its own, and writes compare.json, compare.csv and report.html. `seeds` 0 is the configuration's.
RunResult compare(const Configuration& configuration, const SchemeChoice& choice, std::size_t seeds,
                  const RunOptions& options);

/// `pibinn eval`: how well a model recovers known signals, given in their own unit. Without
/// measurements the model's operator makes them, free of noise.
Metrics evaluate(const Model& model, ConstBatchView signals, ConstBatchView measurements,
                 ThreadPool& pool);

}  // namespace pibinn::study
