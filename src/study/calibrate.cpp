#include "pibinn/calibrate.hpp"

#include <cmath>

#include <fmt/format.h>

#include "pibinn/certificate.hpp"
#include "pibinn/error.hpp"
#include "pibinn/recoverer.hpp"
#include "problem/noise_words.hpp"
#include "problem/signal_marks.hpp"
#include "study/evaluation_set.hpp"
#include "theory/row_measures.hpp"

namespace pibinn::study {

namespace {

// Of the training signals that a model remembers: a few may coincide where values are few.
constexpr double kMostKnown = 0.5;

std::string metadata_of(const Model& model, const char* key) {
    const auto found = model.metadata.find(key);
    return found == model.metadata.end() ? "" : found->second;
}

void require_finite(ConstBatchView rows, const char* noun) {
    for (std::size_t i = 0; i < rows.rows; ++i)
        for (const float v : rows.row(i))
            if (!std::isfinite(v))
                fail_input(fmt::format("{} {} holds {}", noun, i, v), "give finite numbers");
}

void require_input(const Model& model, const CalibrationInput& input) {
    if (input.signals.rows() == 0)
        fail_usage("no held-out signals", "give CalibrationInput::signals");
    require_finite(input.signals, "signal");
    require_finite(input.measurements, "measurement");
    const bool noise = input.noise_std || input.snr_db;
    if (input.noise_std && input.snr_db)
        fail_usage("CalibrationInput::noise_std and CalibrationInput::snr_db are both given",
                   "say the noise in one of the two ways");
    if (noise && input.measurements.rows() > 0)
        fail_usage("noise would be added to measurements that are given",
                   "remove CalibrationInput::noise_std and CalibrationInput::snr_db");
    if (input.noise_std && !(*input.noise_std >= 0 && std::isfinite(*input.noise_std)))
        fail_usage(fmt::format("CalibrationInput::noise_std {} is not a number from 0 on",
                               *input.noise_std),
                   "give a deviation, 0 for none");
    if (input.snr_db &&
        !(std::isfinite(input.snr_db->least_db) && input.snr_db->least_db <= input.snr_db->most_db))
        fail_usage(
            fmt::format("CalibrationInput::snr_db {} is no ratio in dB", input.snr_db->least_db),
            "give 20, for example");
    if (noise || input.measurements.rows() > 0) return;
    const NoiseWords trained = parse_noise_words(metadata_of(model, kNoiseKey));
    if (trained.given || trained.artefacts)
        fail_usage(fmt::format("the model was trained on {}, which nobody can draw here",
                               trained.given ? "measurements of your own with noise of their own"
                                             : "signals with recorded artefacts"),
                   "give CalibrationInput::measurements, or the noise by "
                   "CalibrationInput::noise_std");
}

/// What the operator measures, with noise; says which.
std::string add_noise_of(const Model& model, const CalibrationInput& input, DataSet& set,
                         ThreadPool& pool) {
    const NoiseWords trained = parse_noise_words(metadata_of(model, kNoiseKey));
    const bool own = input.noise_std || input.snr_db;
    const auto std = own ? input.noise_std : trained.std;
    const auto snr_db = own ? input.snr_db : trained.snr_db;
    const std::string whose = own ? "" : " as in training";
    // Noise of signals is part of them when they are measured, but not when they are judged.
    const double early = own ? 0 : model.domain.noise_std / model.domain.deviation;
    if (early > 0) {
        Batch disturbed = set.x;
        Disturbance noise;
        noise.noise_std = early;
        disturb(noise, disturbed, input.seed, Purpose::test_disturbance, 0, pool);
        model.op.apply(disturbed, set.y, pool);
    }
    if (snr_db) {
        add_noise(set.y, *snr_db, input.seed, Purpose::test_noise, pool);
        return snr_db->least_db == snr_db->most_db
                   ? fmt::format("with noise at {} dB{}", snr_db->least_db, whose)
                   : fmt::format("with noise at {} to {} dB{}", snr_db->least_db, snr_db->most_db,
                                 whose);
    }
    if (std && *std > 0) {
        add_noise(set.y, *std, input.seed, Purpose::test_noise, pool);
        return fmt::format("with noise of deviation {}{}", *std, whose);
    }
    if (early > 0)
        return fmt::format("with noise of deviation {} on the signals{}", model.domain.noise_std,
                           whose);
    return "without noise";
}

void require_unseen(const Model& model, const CalibrationInput& input, const Batch& x) {
    if (share_marked(metadata_of(model, kTrainSignalsKey), x) < kMostKnown) return;
    fail_input(fmt::format("{} holds the signals that the model was trained on",
                           input.signals_name.empty() ? "the set" : "'" + input.signals_name + "'"),
               "their errors say nothing of others: give signals that training has not seen");
}

double distance(std::span<const float> a, std::span<const float> b) {
    double sum = 0;
    for (std::size_t j = 0; j < a.size(); ++j) sum += (double{a[j]} - b[j]) * (double{a[j]} - b[j]);
    return std::sqrt(sum);
}

std::vector<HeldOutSignal> recover_held_out(const Model& model, const CalibrationInput& input,
                                            const DataSet& set, ThreadPool& pool) {
    const Recoverer recoverer(model);
    const Batch found = recoverer.coefficients(set.y, pool);
    const Matrix<RowMeasures> measures =
        measure_rows(model, set.y, found, {whole_row(model)}, pool);
    // Signals of normalize = "patch" come back without their own mean, and are judged without it.
    const bool own_mean = model.domain.normalize == Normalize::patch;
    const Batch truth = own_mean ? recoverer.signals(Batch(set.x), pool) : Batch();
    const ConstBatchView signals = own_mean ? truth.view() : input.signals.view();
    const Batch recovered = recoverer.signals(Batch(found), pool);
    std::vector<HeldOutSignal> out(set.x.rows());
    const std::vector<float> zero(set.x.cols());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double energy = distance(set.x.row(i), zero);
        out[i].error = distance(recovered.row(i), signals.row(i));
        if (energy > 0) out[i].relative = distance(found.row(i), set.x.row(i)) / energy;
        out[i].residual = measures(i, 0).relative_residual();
        out[i].length = measures(i, 0).length;
        out[i].nonzeros = measures(i, 0).nonzeros;
    }
    return out;
}

std::string unit_of(const SignalDomain& domain) {
    if (domain.plain()) return "";
    return domain.normalize == Normalize::none
               ? "in the unit of the signals; relative ones are of the coefficients"
               : "in the unit of the signals; relative ones are of the normalised signals, as eval "
                 "has them";
}

}  // namespace

Calibration calibrate(const Model& model, const CalibrationInput& input,
                      const CalibrationOptions& options, ThreadPool& pool) {
    require_input(model, input);
    DataSet set = evaluation_set(model, input.signals, input.measurements, pool);
    require_unseen(model, input, set.x);
    CalibrationSource source{input.signals_name, input.measurements_name, "", 0};
    if (input.measurements.rows() == 0) {
        source.noise = add_noise_of(model, input, set, pool);
        source.seed = input.seed;
    } else if (source.measurements.empty()) {
        source.measurements = "measurements of its own";
    }
    Calibration calibration = calibration_of(recover_held_out(model, input, set, pool), options);
    calibration.source = std::move(source);
    calibration.unit = unit_of(model.domain);
    calibration.weights_hash = weights_hash(model);
    return calibration;
}

Calibration calibrate(const Model& model, const CalibrationInput& input,
                      const CalibrationOptions& options) {
    ThreadPool pool;
    return calibrate(model, input, options, pool);
}

}  // namespace pibinn::study
