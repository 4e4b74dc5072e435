#pragma once

#include <optional>
#include <vector>

#include "pibinn/thread_pool.hpp"
#include "spectral/norm_recursion.hpp"
#include "spectral/support_recursion.hpp"

namespace pibinn {

/// What is proven of one class of signals, layer by layer: by norms, by following each support, or
/// by both, of which the better one counts at every layer.
class ErrorProof {
public:
    /// Norms may be left out, and so may supports (an empty list), but not both: the supports must
    /// be all that the class has. Keeps references to networks and pool.
    ErrorProof(const std::vector<BlockNetwork>& networks, const BoundInputs* norms,
               const std::vector<Support>& supports, double B, double noise, double rounding,
               ThreadPool& pool);

    /// The threshold that keeps every entry outside the support at zero in the next layer.
    double needed();
    /// Goes through the next layer; returns E_k.
    double advance(const Shrink& shrink);

private:
    ThreadPool& pool_;
    std::optional<NormRecursion> norms_;
    bool outside_ = true;
    std::vector<SupportRecursion> supports_;
};

/// The proof for networks with the thresholds that they have.
ErrorBound bound_of(ErrorProof& proof, const BlockNetwork& thresholds);

/// Every support of s entries of every block, where these are few enough to be followed one by one;
/// otherwise none.
std::vector<Support> enumerated_supports(const std::vector<BlockNetwork>& networks, std::size_t s);

/// Whether so many supports of up to s entries can be followed within some seconds.
bool can_follow(const std::vector<BlockNetwork>& networks, std::size_t supports, std::size_t s);

}  // namespace pibinn
