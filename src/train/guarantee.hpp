#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/parameters.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/thread_pool.hpp"
#include "spectral/class_proof.hpp"
#include "train/guarantee_weights.hpp"

namespace pibinn {

/// Makes a network whose error on a class of signals is proven, and keeps it proven while it is
/// trained: weights that keep the entries of the class apart, and thresholds that are at least what
/// the leak of each layer needs.
class Guarantee {
public:
    /// A class without supports and size takes the largest size with a bound below -10 dB of the
    /// longest signal. Refuses networks that no proof is about. Keeps references.
    Guarantee(const SignalClass& signals, const Operator& op, const NetworkSpec& spec,
              std::uint64_t seed, ThreadPool& pool);

    /// The network with the least bound that is found, and that bound. Refuses a class for which
    /// there is none below the length of its longest signal, and says what could be proven instead.
    double construct(ParameterStore& latent);

    /// Raises the thresholds of `latent` to what the weights in use need; returns the bound of the
    /// last layer.
    double project(const ParameterStore& effective, ParameterStore& latent) const;

    /// Whether a signal is of the class, whatever its measurement.
    bool holds(std::span<const float> x) const;

    /// With size and norm filled in, once a network was constructed.
    const SignalClass& signals() const { return proof_->signals(); }

    /// The same thresholds for a finished model, in its own units.
    static ErrorBound settle(const SignalClass& signals, Model& model, ThreadPool& pool);

private:
    struct Candidate {
        std::vector<BlockNetwork> networks;
        double bound = 0;  ///< relative to the longest signal
    };
    /// Of some weights the best scale.
    Candidate scaled(const std::vector<BlockNetwork>& unit, const ClassProof& proof) const;
    Candidate best_for(const SignalClass& signals) const;
    std::vector<BlockNetwork> unit_networks(double reach) const;
    void store(const std::vector<BlockNetwork>& networks, ParameterStore& latent) const;
    /// Of the sizes up to `most`; 0 for none.
    std::size_t largest_that_works(std::size_t most) const;
    std::string size_hint(std::size_t most) const;
    /// Refuses a size beyond what any measurements can tell apart.
    void require_size() const;
    [[noreturn]] void refuse(double bound) const;

    SignalClass asked_;
    const Operator& op_;
    NetworkSpec spec_;
    std::uint64_t seed_;
    ThreadPool& pool_;
    std::vector<BlockNetwork> base_;
    std::vector<Disturbers> disturbers_;            ///< one per block
    std::vector<std::vector<BlockNetwork>> units_;  ///< one per reach, at scale 1
    std::optional<ClassProof> proof_;
};

/// Whether a signal is of a class, whatever its measurement. `supports` are those of the class.
bool is_of_class(const SignalClass& signals, const std::vector<Support>& supports,
                 const Structure& structure, std::span<const float> x);
/// The share of some signals that are not of a class.
double share_outside(const SignalClass& signals, const Operator& op, const Batch& x);

}  // namespace pibinn
