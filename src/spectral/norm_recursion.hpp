#pragma once

#include "pibinn/error_bound.hpp"
#include "spectral/shrink.hpp"

namespace pibinn {

/// An error, measured in three norms: length, sum and largest of the entries.
struct ErrorNorms {
    double two = 0, one = 0, most = 0;

    /// Each by the others, for a vector of at most s entries.
    void tighten(std::size_t s);
};

/// Errors layer by layer from norms alone, so that it holds for any set of supports whose terms
/// have a supremum. A layer is asked what threshold it needs, and then left with one.
class NormRecursion {
public:
    explicit NormRecursion(const BoundInputs& in);

    /// The threshold that keeps every entry outside S at zero in the next layer.
    double needed() const { return needed_; }
    /// Goes through the next layer; returns E_k.
    double advance(const Shrink& shrink);

private:
    /// What the next layer has before its activation.
    void enter();

    BoundInputs in_;
    std::size_t k_ = 0;  ///< layers behind it
    ErrorNorms now_, before_, moved_;
    double residual_ = 0;  ///< ||r_k||
    double noise_ = 0;     ///< with what the Onsager term carries over
    double needed_ = 0;
    double rounded_ = 0;  ///< by which an entry before the activation may be off
};

}  // namespace pibinn
