// room: problem
#pragma once

#include <cstdint>

#include "pibinn/beamspace_prior.hpp"
#include "pibinn/problem.hpp"

namespace pibinn {

/// Channel estimation in beamspace, where phase shifters of one bit make the operator: real, so
/// that it measures real and imaginary parts alike, with entries +-1/sqrt(Q).
struct BeamspaceSpec {
    BeamspacePrior prior = {};
    std::size_t measurements = 96;  ///< Q
    std::size_t users = 1;          ///< whose channels are measured together: a row each
    OperatorEnsemble ensemble = OperatorEnsemble::rademacher;
    /// A complex measurement has noise of variance 1/(Q SNR), however strong the channel is: that
    /// of a channel of energy 1. The power is set by make_beamspace.
    SnrRange snr_db = {0, 20};
    std::size_t train = 4000;  ///< times users
    std::size_t test = 1000;
};

Problem make_beamspace(const BeamspaceSpec& spec, std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
