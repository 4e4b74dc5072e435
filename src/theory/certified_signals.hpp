#pragma once

#include "pibinn/certificate.hpp"

namespace pibinn {

/// What a certificate is made on: coefficients of signals, given or drawn.
struct CertifiedSignals {
    Batch x;               ///< coefficients, one signal per row
    Batch y;               ///< their measurements; empty: the operator measures without noise
    std::size_t size = 0;  ///< s > 0: x was drawn, and *all* supports of s entries are meant
    double B = 0;          ///< sup ||x||; 0: the largest of x
    CertificateSource source;
};

/// Where nobody names signals, and the model was trained with a guarantee: takes its class with
/// norm, noise and rounding, and says so.
bool take_class(const Model& model, CertificateInput& input, CertificateOptions& options);

/// Draws signals, or takes the coefficients of those given. Refuses an input that does not name its
/// signals in exactly one way, and what does not match the model.
CertifiedSignals certified_signals(const Model& model, const CertificateInput& input, double B,
                                   ThreadPool& pool);

}  // namespace pibinn
