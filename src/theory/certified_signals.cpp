#include "theory/certified_signals.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/signal_class.hpp"

namespace pibinn {

namespace {

// Relative to a signal's largest coefficient: some units in the last place of float32.
constexpr float kAnalysisNoise = 1e-6F;

void require_one_source(const CertificateInput& input) {
    const int given = (input.signals.rows() > 0) + !input.support.empty() +
                      !input.supports.empty() + input.size.has_value();
    if (given != 1)
        fail_usage(given == 0 ? "no supports to certify" : "more than one source of supports",
                   "give one of CertificateInput::signals, CertificateInput::support or "
                   "CertificateInput::size");
    if (input.measurements.rows() > 0 && input.signals.rows() == 0)
        fail_usage("measurements without signals", "give CertificateInput::signals too");
    if (input.samples == 0) fail_usage("CertificateInput::samples 0", "give at least 1");
}

void require_finite(const Batch& rows, const char* noun) {
    for (std::size_t i = 0; i < rows.rows(); ++i)
        for (const float v : rows.row(i))
            if (!std::isfinite(v))
                fail_input(fmt::format("{} {} holds {}", noun, i, v), "give finite numbers");
}

void require_shapes(const Model& model, const CertificateInput& input) {
    const Batch &x = input.signals, &y = input.measurements;
    if (x.cols() != model.op.cols())
        fail_input(fmt::format("signals of {} x {}, but the model recovers {} entries", x.rows(),
                               x.cols(), model.op.cols()),
                   "give signals of the model's own problem, one per row");
    if (y.rows() > 0 && (y.rows() != x.rows() || y.cols() != model.op.rows()))
        fail_input(fmt::format("measurements of {} x {} for {} signals, expected rows of {}",
                               y.rows(), y.cols(), x.rows(), model.op.rows()),
                   "row i of the measurements must belong to row i of the signals");
    require_finite(x, "signal");
    require_finite(y, "measurement");
}

/// What the network recovers of signals. The analysis is float32, and what it leaves where a
/// coefficient is zero must not count as an entry of a support.
Batch coefficients(const Model& model, const Batch& signals, ThreadPool& pool) {
    if (model.domain.plain()) return signals;
    Batch x = model.domain.to_coefficients(signals, pool);
    for (std::size_t i = 0; i < x.rows(); ++i) {
        float largest = 0;
        for (const float v : x.row(i)) largest = std::max(largest, std::abs(v));
        for (float& v : x.row(i))
            if (std::abs(v) <= kAnalysisNoise * largest) v = 0;
    }
    return x;
}

}  // namespace

bool take_class(const Model& model, CertificateInput& input, CertificateOptions& options) {
    if (input.signals.rows() > 0 || !input.support.empty() || !input.supports.empty() || input.size)
        return false;
    const std::optional<SignalClass> kept = kept_class(model);
    if (!kept) return false;
    if (kept->size > 0)
        input.size = kept->size;
    else if (kept->supports.size() == 1)
        input.support = kept->supports.front();
    else
        input.supports = kept->supports;
    if (options.B == 0) options.B = kept->norm;
    if (options.noise == 0) options.noise = kept->noise;
    options.float32 = true;
    return true;
}

CertifiedSignals certified_signals(const Model& model, const CertificateInput& input, double B,
                                   ThreadPool& pool) {
    require_one_source(input);
    CertifiedSignals out;
    out.B = B;
    out.source.given_B = B > 0;
    out.source.coefficients = !model.domain.plain();
    if (input.signals.rows() > 0) {
        require_shapes(model, input);
        out.x = coefficients(model, input.signals, pool);
        out.y = input.measurements;
        out.source.signals = input.signals_name;
        out.source.measurements = input.measurements_name;
        return out;
    }
    out.source.support = input.support;
    out.source.supports = input.supports;
    out.source.size = input.size;
    out.source.samples = input.samples;
    out.source.seed = input.seed;
    out.size = input.size.value_or(0);
    std::size_t s = input.size.value_or(input.support.size());
    for (const auto& support : input.supports) s = std::max(s, support.size());
    if (B == 0) out.B = usual_norm(s);
    if (input.size)
        out.x = signals_of_size(model, s, input.samples, out.B, input.seed);
    else if (!input.supports.empty())
        out.x = signals_on_supports(model, input.supports, input.samples, out.B, input.seed);
    else
        out.x = signals_on_support(model, input.support, input.samples, out.B, input.seed);
    return out;
}

}  // namespace pibinn
