// room: problem
#pragma once

#include <cstdint>
#include <optional>

#include "pibinn/problem.hpp"
#include "pibinn/spectrum_prior.hpp"

namespace pibinn {

/// Sparse complex spectra seen through m random rows of the unitary discrete Fourier transform of n
/// entries, times sqrt(n/m): columns have norm 1. A toy of radar and magnetic resonance.
struct FourierSpec {
    SpectrumPrior prior = {};
    std::size_t m = 64;
    std::optional<SnrRange> snr_db = SnrRange{20, 20};
    double noise_std = 0;  ///< of real and imaginary parts, where there is no snr_db
    std::size_t train = 4000;
    std::size_t test = 1000;
};

Problem make_fourier(const FourierSpec& spec, std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
