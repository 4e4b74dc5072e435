// room: study
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pibinn/calibration.hpp"
#include "pibinn/disturbance.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/model.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::study {

/// Signals that neither training nor the choice of a model has seen, and their measurements.
struct CalibrationInput {
    Batch signals = {};       ///< in their own unit, such as pixels or volts, one per row
    Batch measurements = {};  ///< row i belongs to signal i; empty: the operator measures
    /// Noise of measurements that the operator makes: a deviation, or relative to each of them.
    /// Without either, that of training where the model tells it, otherwise none.
    std::optional<double> noise_std = {};
    std::optional<SnrRange> snr_db = {};
    std::uint64_t seed = 1;         ///< of that noise
    std::string signals_name = {};  ///< what text and JSON call them, such as a file
    std::string measurements_name = {};
};

/// `pibinn certify --calibrate`: recovers held-out signals as Recoverer does, for a network of any
/// kind, and says what their errors guarantee of all signals that are drawn as they were. Signals
/// that the model was trained on are an input error, as far as the model remembers them.
Calibration calibrate(const Model& model, const CalibrationInput& input,
                      const CalibrationOptions& options, ThreadPool& pool);
/// The same on threads of its own.
Calibration calibrate(const Model& model, const CalibrationInput& input,
                      const CalibrationOptions& options = {});

}  // namespace pibinn::study
