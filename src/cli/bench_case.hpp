#pragma once

#include <filesystem>
#include <string>

#include <bench/recovery_network.hpp>

#include "cli/bench.hpp"
#include "pibinn/model.hpp"
#include "pibinn/packed_model.hpp"

namespace pibinn::cli {

/// A model and signals for it: what all peers of a measurement are given.
struct RecoverCase {
    std::string origin;  ///< "random" or "trained"
    Model model;
    Batch x;
    Batch y;             ///< A x
    double density = 0;  ///< share of non-zero entries of x_1 .. x_K, mean over signals and layers
};

/// A one-bit network set from a random operator. Its thresholds are set so that every layer leaves
/// about `density` of its entries alive: our kernels skip zeros, and peers do not.
RecoverCase random_case(const Structure& structure, std::size_t layers, const Update& update,
                        double density, std::size_t rows, ThreadPool& pool);
/// A model (from `file`, for the message) on sparse signals of the given density. A usage error
/// where peers cannot run it.
RecoverCase trained_case(Model model, const std::string& file, double density, std::size_t rows,
                         ThreadPool& pool);

/// The same network for the peers.
bench::RecoveryNetwork network_of(const Model& model);

/// What a peer outside this program needs to run the case and to check itself against `ours`.
void write_case(const std::filesystem::path& folder, const RecoverCase& recover_case,
                const Batch& ours);

/// ||a - b|| / ||a||
double relative_difference(std::span<const float> a, std::span<const float> b);

}  // namespace pibinn::cli
