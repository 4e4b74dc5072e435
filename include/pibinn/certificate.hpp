// room: theory
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/bounds.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/model.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// Which signals are certified: those on the supports of `signals`, on one `support`, on several
/// `supports`, or on all supports of `size` entries. One of them is given, or none for a model that
/// was trained with a guarantee: then the class of that guarantee is meant.
///     certify(model, {.support = {1, 5, 9}});
struct CertificateInput {
    /// In their own unit, such as pixels or volts, one signal per row; zero signals are skipped.
    /// The supports of a model with a basis are those of their coefficients.
    Batch signals = {};
    Batch measurements = {};  ///< of the signals; empty: the operator measures without noise
    std::vector<std::uint32_t> support = {};  ///< entries (of a basis: coefficients), from 0 on
    std::vector<std::vector<std::uint32_t>> supports = {};  ///< several of these
    std::optional<std::size_t> size = {};                   ///< entries of a support
    std::size_t samples = 1000;     ///< signals to draw for `support` and `size`
    std::uint64_t seed = 1;         ///< of what is drawn
    std::string signals_name = {};  ///< what text and JSON call them, such as a file
    std::string measurements_name = {};
};

struct CertificateOptions {
    /// sup ||x||; 0 takes the largest of the signals, or sqrt(s) + 3 where they are drawn: of
    /// signals with N(0, 1) on s entries one in a hundred at most is longer.
    double B = 0;
    double noise = 0;  ///< sup ||e||; at least what the measurements show
    double operator_radius = 0;
    double weight_radius = 0;
    double threshold_radius = 0;
    /// The operator is Q[S, :] of a Gram matrix Q for the one support S, so that A_S is Q[S, S]:
    /// must be symmetric and positive definite.
    bool gram = false;
    TheoremInputs theorem;
    /// Bounds cover what float32 rounds, as `recover` does, and not exact arithmetic alone. Always
    /// so for the class that a model was trained for.
    bool float32 = false;
    /// Starts of a search for the signals of the class with the largest errors; 0 does not search.
    std::size_t attack = 0;
};

enum class Verdict {
    /// No layer can activate an entry outside the support, and the bound of the last one is below
    /// B, what the answer 0 promises.
    guaranteed,
    on_supports,  ///< the same for the supports that were drawn, but not for all of their size
    on_data,      ///< the same bound, and no layer did on any of the signals measured
    none
};
std::string_view to_string(Verdict verdict);

/// What the float64 network did with the signals.
struct MeasuredLayer {
    double error = 0;                  ///< largest ||x_k - x||
    double rms_error = 0;              ///< root of the mean of ||x_k - x||^2
    std::size_t leaks = 0;             ///< signals with an entry outside their support
    std::size_t misses = 0;            ///< signals without an entry of their support
    double relative_error = 0;         ///< largest ||x_k - x|| / ||x||
    double median_error = 0;           ///< of ||x_k - x||
    double median_relative_error = 0;  ///< of ||x_k - x|| / ||x||
};

/// What a search for bad signals found: projected gradient ascent over signals and noise.
struct Attack {
    std::size_t starts = 0;
    std::size_t signals = 0;    ///< that were run on the way
    std::vector<double> error;  ///< largest ||x_k - x||, layer by layer
    bool leaked = false;        ///< an entry outside a support was switched on
};

/// Where the signals of a certificate come from.
struct CertificateSource {
    std::string signals, measurements;                 ///< names, where signals were given
    std::vector<std::uint32_t> support;                ///< the one that was asked for
    std::vector<std::vector<std::uint32_t>> supports;  ///< where several were
    std::optional<std::size_t> size;                   ///< the size that was asked for
    bool of_model = false;                             ///< the class that the model was trained for
    std::size_t samples = 0;                           ///< signals drawn; 0: they were given
    std::uint64_t seed = 0;
    bool coefficients = false;  ///< of a basis
    bool given_B = false;       ///< B was asked for
};

/// What holds for all supports of one size, seen or not.
struct AllSupports {
    std::size_t size = 0;
    BoundInputs terms;  ///< radii included
    ErrorBound bound;
};

/// How far a second network or measurement may be from the first so that both provably keep the
/// support; 0: not proven for any distance.
struct ProvenChanges {
    /// ||A_S - A'_S||_2, y as it is. To A' such a y is off by op B more, so that only what is left
    /// of the noise asked for beside the measured one can be spent on it: (noise - measured) / B.
    double op = 0;
    double op_noise = 0;     ///< the ||y - A x|| up to which `op` is proven: noise - op B
    double measurement = 0;  ///< ||y - A x||
    double weights = 0;
    double thresholds = 0;
};

/// What the theory guarantees of one model, with every number it used. A signal of a structure with
/// blocks counts as one signal per block: `x`, B and s are those of a block.
struct Certificate {
    NetworkSpec spec;
    std::string network;  ///< the model in a line
    CertificateSource source;
    bool gram = false;
    bool blocks = false;  ///< signals are parts of signals, one per block
    double scale = 0;
    std::string weights_hash;
    std::size_t signals = 0;       ///< measured, parts that are zero left out
    std::size_t supports = 0;      ///< distinct ones
    std::size_t support_size = 0;  ///< of the largest
    double r = 0, L = 0;           ///< eigenvalues of Q on the supports lie in [r, L]
    double diagonal_gap = 0;       ///< max |W_i^T A_i - 1|
    double operator_radius = 0, weight_radius = 0, threshold_radius = 0;  ///< as asked for
    double measured_noise = 0;  ///< largest ||y - A x|| of the signals
    BoundInputs terms;          ///< of the supports seen, radii included (bounds.hpp)
    std::vector<std::vector<std::uint32_t>> worst;  ///< per layer, the support seen that gives f_k
    std::optional<AllSupports> all;                 ///< where a size was asked for
    bool over_all = false;  ///< the bounds below are for all supports, else for those seen

    double alpha = 0;  ///< of the activation, over the supports seen
    struct Member {
        bool hard = false;  ///< eq. ht1
        bool soft = false;  ///< eq. to10
        bool good = false;  ///< Definition 1: W_i^T A_i = 1
    } member;
    double good_rate = 0;  ///< (2 s - 1) max mu_k, the rate of good weights (eq. cvg14)

    ErrorBound bound;
    std::vector<double> cvg;  ///< infinite where the paper has none: alpha >= 1, another update
    AskedThresholds asked;
    std::optional<ResponseBounds> response;  ///< for the plain update
    std::optional<TheoremBound> theorem;     ///< for the plain update
    ProvenChanges proven;                    ///< where `response` is proven
    bool followed = false;  ///< the bound followed each support by itself, not norms alone

    std::vector<MeasuredLayer> measured;
    std::optional<Attack> attack;  ///< where one was asked for
    Verdict verdict = Verdict::none;
    std::string why;  ///< what the verdict rests on and speaks of, or what failed where
    std::vector<std::string> failed;  ///< what keeps it from a guarantee, in plain words

    /// What the bounds are made of.
    const BoundInputs& basis() const { return over_all ? all->terms : terms; }
    /// The supports the bounds speak of, in words.
    std::string supports_text() const;
    /// The support kept and an error below B are proven, for all supports or for those drawn.
    bool proves_errors() const {
        return verdict == Verdict::guaranteed || verdict == Verdict::on_supports;
    }
    /// Under which condition a bound like Theorem 1 stands here, in words.
    std::string assumptions_text() const;

    /// What is guaranteed in one sentence, or that nothing is.
    std::string statement() const;

    /// What `pibinn certify` prints: what is guaranteed in plain words, then every number.
    std::string text() const;
    /// What `pibinn certify --json` writes, one object; what is infinite is null.
    std::string json() const;
};

/// The certificate that `pibinn certify` makes of a model, on threads of its own.
Certificate certify(const Model& model, const CertificateInput& input,
                    const CertificateOptions& options = {});
/// The same on the supports of some signals.
Certificate certify(const Model& model, const Batch& signals);
/// The same on the caller's threads.
Certificate certify(const Model& model, const CertificateInput& input,
                    const CertificateOptions& options, ThreadPool& pool);

/// Keeps a certificate in the metadata of its model, which Model::save writes.
void attach_certificate(Model& model, const Certificate& certificate);

/// The certificate that a model carries.
struct AttachedCertificate {
    bool matches = false;  ///< it was made of these very weights
    std::string statement, verdict, why;
};
std::optional<AttachedCertificate> attached_certificate(const Model& model);

/// Signals N(0, 1) on one support, scaled down where longer than B.
Batch signals_on_support(const Model& model, std::span<const std::uint32_t> support,
                         std::size_t count, double B, std::uint64_t seed);
/// The same on several supports, as many on each of them.
Batch signals_on_supports(const Model& model,
                          const std::vector<std::vector<std::uint32_t>>& supports,
                          std::size_t count, double B, std::uint64_t seed);
/// The same, each on a random support of `size` entries of a random block.
Batch signals_of_size(const Model& model, std::size_t size, std::size_t count, double B,
                      std::uint64_t seed);

/// By which a certificate knows the model it was made of: network, structure, operator, weights,
/// thresholds.
std::string weights_hash(const Model& model);

}  // namespace pibinn
