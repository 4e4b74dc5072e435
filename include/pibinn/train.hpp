// room: train
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pibinn/metrics.hpp"
#include "pibinn/model.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/progress.hpp"
#include "pibinn/recipe.hpp"

namespace pibinn {

class Communicator;

struct EpochRecord {
    std::size_t stage = 0;
    std::size_t epoch = 0;  ///< of the whole training, from 1
    double rate = 0;
    double loss = 0;          ///< mean over the epoch's signals
    double test_nmse_db = 0;  ///< of the last time it was measured
};

/// One training: what to train on, what, how, from which seed.
struct TrainJob {
    const Problem* problem = nullptr;
    NetworkSpec spec;
    Recipe recipe;
    std::uint64_t seed = 1;
    std::string device = "cpu";  ///< where numbers live: "cpu", "cuda" or "cuda-tf32"
    /// Where checkpoints and history.csv go; empty keeps nothing.
    std::filesystem::path folder;
    bool resume = false;  ///< go on from the folder's checkpoint, if there is one
    /// Between checkpoints: what a kill can cost, against a few milliseconds of writing. 0 writes
    /// one after every epoch. No part of what is trained.
    double checkpoint_seconds = 2;
    /// Also after the last epoch, for another start that is to have the result without training.
    bool keeps_end = true;
    /// Where several processes train this network: all of them call train() with the same job, each
    /// works on its share of every batch, and rank 0 alone reads and writes files and scores the
    /// result. Null is one process. No part of what is trained. Ranks that round differently get
    /// the numbers of rank 0 after every epoch.
    Communicator* ranks = nullptr;
};

struct TrainResult {
    Model model;
    bool finished = true;  ///< false when the progress sink asked to stop: the checkpoint is there
    Metrics train, test;
    Augment augment = Augment::none;    ///< of the recipe
    double validation = 0;              ///< of the recipe
    std::vector<std::string> warnings;  ///< what speaks against using the model as it is
    std::vector<double> train_nmse_db_per_layer, test_nmse_db_per_layer;
    std::vector<EpochRecord> history;
    std::vector<std::pair<std::string, double>> seconds;  ///< per stage
    /// Of the last stage that asks for an alpha, and what the finished model has on the training
    /// supports: no scale and no flip of signs may be enough. 0 where no stage asks.
    double alpha_asked = 0, alpha_reached = 0;
    /// What stages with a guarantee ended with: the error that is proven for all signals of the
    /// class, in the unit of the signals; nothing where no stage asks.
    struct Guaranteed {
        SignalClass signals;
        double bound = 0;     ///< of the last layer
        bool proven = false;  ///< in float64 on the model as it is stored
    };
    std::optional<Guaranteed> guarantee;
    /// The float network of the same layers as the float stages left it, which is what the one-bit
    /// training starts from; nothing where no weights are quantised or no stage is float.
    std::optional<Model> pretrained;
    std::size_t pretrained_epochs = 0;
};

/// How the program would train a network, with what a caller may want to say differently.
struct TrainOptions {
    std::string recipe = "default";
    OwnChoices own = {};  ///< of the network: what is not to follow from the problem
    std::uint64_t seed = 1;
    std::string device = "cpu";         ///< where numbers live: "cpu", "cuda" or "cuda-tf32"
    std::filesystem::path folder = {};  ///< as TrainJob::folder
    bool resume = false;
    std::size_t threads = 0;  ///< 0: one per core
    ProgressSink progress = {};
};

/// Trains with the recipe, augmentation and batch that the program chooses for this problem.
TrainResult train(const Problem& problem, const NetworkSpec& spec = {},
                  const TrainOptions& options = {});

/// Trains to the end, or until `progress` answers false. The same job gives the same bytes whatever
/// the number of threads and ranks, and however often it was interrupted and resumed.
TrainResult train(const TrainJob& job, ThreadPool& pool, const ProgressSink& progress = {});

/// What a user should hear about a training: measurements that the operator does not explain, a
/// result that is worse than the zero estimate, a gap of more than 2 dB to the training signals.
std::vector<std::string> training_warnings(const Problem& problem, const TrainResult& result);

/// The batch when nobody asked for one: 250 signals, or an eighth of the rows that are trained on
/// where these are few, but at least 25, and no more than there are. Each repetition of a
/// `repeated` operator counts as a signal.
std::size_t usual_batch(const Problem& problem, const Recipe& recipe);

}  // namespace pibinn
