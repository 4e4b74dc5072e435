// room: problem
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"

namespace pibinn {

/// How real signals are sensed. The operator acts on coefficients, as in the paper; on an
/// orthonormal basis a Gaussian operator is the same on both sides. Only an operator that acts on
/// the signals themselves (`on_signals`) is multiplied with the basis, A = Phi Psi, and is dense.
struct SensingSpec {
    std::size_t m = 0;   ///< 0: of the ratio
    double ratio = 0.5;  ///< m / n
    StructureKind structure = StructureKind::dense;
    std::size_t blocks = 2;  ///< equal blocks on the diagonal of `blocks` and `repeated`
    OperatorEnsemble ensemble = OperatorEnsemble::gaussian;
    std::optional<std::size_t> ones_per_column;  ///< of binary_sparse; unless given, 8 or m
    std::optional<Operator> given;               ///< instead of a drawn one
    bool on_signals = false;
};

/// The operator on the n coefficients of a basis.
Operator sensing_operator(const SensingSpec& spec, const Basis& basis, std::size_t n,
                          std::uint64_t seed, ThreadPool& pool);

/// Where the noise of real signals comes in. The paper adds it to the pixels; added after the
/// normalisation, or to the measurements, its deviation is in the unit of normalised signals.
enum class NoisePlace { signals, normalised, measurements };

std::string_view to_string(NoisePlace place);
NoisePlace parse_noise_place(std::string_view name);

/// Signals in their own unit, one a row, and what disturbs them before they are sensed. A training
/// comes out the same in any unit where they are float64.
struct RealSignals {
    UserArray train, test;
    UserArray train_artefacts, test_artefacts;  ///< of the same length, or empty
    double least_snr_db = 0, most_snr_db = 0;
    double noise_std = 0;
    NoisePlace noise_place = NoisePlace::signals;
    std::optional<SnrRange> snr_db;  ///< of the measurements, instead of noise_std
    std::string where;               ///< for errors
};

/// Fits the domain to the training signals, turns signals into coefficients and senses them.
Problem make_real(const RealSignals& signals, SignalDomain domain, const SensingSpec& sensing,
                  std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
