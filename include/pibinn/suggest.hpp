// room: theory
#pragma once

#include <optional>
#include <string>

#include "pibinn/certificate.hpp"

namespace pibinn {

/// Open interval of values; empty where low == high.
struct Interval {
    double low = 0;
    double high = 0;
    bool empty() const { return !(low < high); }
};

/// A choice of delta and of the scale of all weights, and what it promises.
struct SetPoint {
    double delta = 1;
    double scale = 1;  ///< factor on the weights the model has
    double alpha = 0;
    double cvg = 0;  ///< Cvg(K), eq. to6 or ht5; infinite for alpha >= 1
};

/// Which delta and scale put a model into the set of its activation (eq. ht1 or to10). Signs and
/// supports stay; thresholds are not part of the sets.
struct Suggestion {
    double B = 0;          ///< that Cvg is for
    double scale = 0;      ///< the global scale of the model, 0 where it has none
    bool sampled = false;  ///< for supports that were drawn, not for all of their size
    SetPoint now;
    Interval delta_at_scale;  ///< alpha < 1 with the weights as they are, within (0, 1]
    Interval scale_at_delta;  ///< alpha < 1 with delta as it is
    Interval scale_at_one;    ///< alpha < 1 with delta = 1
    /// At the weights as they are; alpha >= 1 if there is none. Where that is a border, alpha is 1
    /// there and any smaller delta is in the set.
    SetPoint largest_delta;
    bool open = false;  ///< largest_delta is such a border, and promises nothing itself
    /// The largest delta at the weights as they are that leaves a margin: alpha = kMargin at most.
    std::optional<SetPoint> margin_delta;
    static constexpr double kMargin = 0.95;
    /// Least Cvg(K) of delta = 1/40 .. 1, each with the scale of the least alpha; none where that
    /// is not below B, which the answer 0 promises too.
    std::optional<SetPoint> best;

    /// The unit of SetPoint::scale: the global scale of the model, or 1.
    double unit() const { return scale > 0 ? scale : 1; }
    /// What `pibinn certify --suggest` prints.
    std::string text() const;
    /// What it writes as "suggestion" of its JSON, one object.
    std::string json() const;
};

/// alpha is the largest of norms of matrices that are linear in delta and scale, hence convex in
/// both: every interval here is exact to a relative 1e-6. About the supports of the signals and the
/// model as it is: refuses radii.
Suggestion suggest(const Model& model, const CertificateInput& input,
                   const CertificateOptions& options, ThreadPool& pool);
/// The same on threads of its own.
Suggestion suggest(const Model& model, const CertificateInput& input,
                   const CertificateOptions& options = {});

}  // namespace pibinn
