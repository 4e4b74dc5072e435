#pragma once

#include <filesystem>
#include <string>

#include "bench/random_network.hpp"
#include "bench/recovery_peer.hpp"
#include "pibinn/model.hpp"

namespace pibinn::bench {

/// A model and signals for it: what all contenders of a measurement are given.
struct RecoveryCase {
    std::string origin;  ///< "random", or "trained": from a file
    Model model;
    Batch x;
    Batch y;             ///< A x
    double density = 0;  ///< share of non-zero entries of x_1 .. x_K, mean over signals and layers
};

/// A random network whose layers leave about `density` of their entries non-zero.
RecoveryCase random_case(const RandomSpec& spec, double density, std::size_t rows,
                         ThreadPool& pool);
/// One of one-bit weights and soft thresholds.
RecoveryCase random_case(const Structure& structure, std::size_t layers, const Update& update,
                         double density, std::size_t rows, ThreadPool& pool);
/// Any model that can recover, on sparse signals of the given density.
RecoveryCase model_case(Model model, double density, std::size_t rows, ThreadPool& pool);

/// Whether the peers can run the same network: dense, unrolled, with soft thresholds or learned
/// shrinks.
bool peers_can_run(const Model& model);
/// The network for those peers.
RecoveryNetwork network_of(const Model& model);

/// "recover-random-50x100x20": the folder of a case within --cases.
std::string case_name(const RecoveryCase& recovery_case);
/// Writes what a peer in another process needs to run the case and to check itself against `ours`.
/// A usage error where no peer can run it.
void write_case(const std::filesystem::path& folder, const RecoveryCase& recovery_case,
                const Batch& ours);

/// ||a - b|| / ||a||, 0 where both are equal. A usage error for different lengths.
double relative_difference(std::span<const float> a, std::span<const float> b);

}  // namespace pibinn::bench
