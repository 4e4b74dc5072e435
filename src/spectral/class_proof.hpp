#pragma once

#include <vector>

#include "pibinn/signal_class.hpp"
#include "pibinn/thread_pool.hpp"
#include "spectral/error_proof.hpp"

namespace pibinn {

/// The supports of a class, block by block, each once. Empty for a class of all supports of a size.
std::vector<Support> supports_of(const SignalClass& signals, const Structure& structure);

/// What the bounds are made of, from the terms of some supports of up to s entries.
BoundInputs bound_inputs(const std::vector<BlockNetwork>& networks, const SpectralTerms& terms,
                         std::size_t s, double B, double noise);

/// Proofs for one class of signals, of any networks on one structure, with the rounding of float32:
/// what is proven holds for what `recover` computes.
class ClassProof {
public:
    /// Refuses an empty class, and supports of more entries than measurements.
    ClassProof(const SignalClass& signals, const Structure& structure);

    std::size_t support_size() const { return s_; }
    const SignalClass& signals() const { return signals_; }  ///< with its norm filled in
    const std::vector<Support>& supports() const { return supports_; }

    /// Norms alone, where following every support of a size would take long: for searches.
    void hurry(bool quick) { quick_ = quick; }

    /// With the thresholds that the networks have.
    ErrorBound bound(const std::vector<BlockNetwork>& networks, ThreadPool& pool) const;

    enum class Thresholds {
        least,  ///< as low as the proof allows
        raised  ///< as they are, except where they are lower than that
    };
    /// Sets thresholds, layer by layer, that keep the support provably.
    ErrorBound settle(std::vector<BlockNetwork>& networks, Thresholds thresholds,
                      ThreadPool& pool) const;

private:
    ErrorProof proof(const std::vector<BlockNetwork>& networks, ThreadPool& pool) const;

    SignalClass signals_;
    std::vector<Support> supports_;
    std::size_t s_ = 0;
    bool quick_ = false;
};

}  // namespace pibinn
