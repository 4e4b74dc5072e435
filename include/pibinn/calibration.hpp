// room: theory
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pibinn/model.hpp"

namespace pibinn {

/// How sure a calibration is to be, and of how many signals it speaks. Both are in (0, 1).
struct CalibrationOptions {
    double confidence = 0.999;  ///< over the choice of the held-out signals
    double coverage = 0.99;     ///< share of all signals of the kind
};

/// A limit that most values of a kind stay at or below: one of the values seen, by its rank.
struct QuantileLimit {
    double coverage = 0;    ///< at least this share of all values ...
    double value = 0;       ///< ... is at most this,
    double confidence = 0;  ///< with this probability, which is at least the one asked for
    std::size_t rank = 0;   ///< it is the rank-th smallest value, from 1 on
};

/// The limit that values seen give of all values of their kind. Distribution-free and exact for
/// every number of values: the rank is the least k with P(Binomial(N, coverage) >= k) <=
/// 1 - confidence. Nothing where N values are too few.
std::optional<QuantileLimit> quantile_limit(std::vector<double> values, double coverage,
                                            double confidence);
/// The fewest values that give one.
double least_values(double coverage, double confidence);

/// What the recovery of a held-out signal showed.
struct HeldOutSignal {
    double error = 0;  ///< ||xhat - x||, in the unit of the signals
    /// ||chat - c|| / ||c|| of the coefficients, as nmse is; nothing for a zero signal.
    std::optional<double> relative;
    std::optional<double> residual;  ///< ||y - A chat|| / ||y||; nothing without an operator
    double length = 0;               ///< ||chat||
    std::size_t nonzeros = 0;        ///< entries of chat beyond rounding
};

/// Where the signals of a calibration and their measurements come from.
struct CalibrationSource {
    std::string signals;       ///< what text and JSON call them, such as a file
    std::string measurements;  ///< the same of measurements that were given
    std::string noise;         ///< in words, of measurements that were made
    std::uint64_t seed = 0;    ///< of that noise
};

/// What held-out signals say of all signals that are drawn as they were: limits of the error that
/// hold for any network, trained or not, and for any distribution.
struct Calibration {
    CalibrationOptions asked;
    CalibrationSource source;
    std::string weights_hash;  ///< of the model, as a certificate has it
    std::string unit;          ///< what errors are measured in, in words; empty: entries
    std::size_t signals = 0;
    std::size_t zero_signals = 0;  ///< have no relative error, and are left out there

    /// Of one coverage. Each limit holds with the confidence asked for by itself.
    struct Coverage {
        double share = 0;
        std::optional<QuantileLimit> error;
        std::optional<QuantileLimit> relative;
    };
    std::vector<Coverage> coverages;  ///< ascending: 0.9, 0.99, 0.999 where N allows, and asked
    double median_error = 0, largest_error = 0;
    double median_relative = 0, largest_relative = 0;

    /// By which a signal outside of the kind is noticed (RecoveryCheck), of the coverage asked for.
    std::optional<QuantileLimit> residual;
    std::optional<QuantileLimit> length;
    std::optional<QuantileLimit> nonzeros;

    /// The limits of the coverage asked for.
    const Coverage& main() const;
    /// What is guaranteed, in a sentence or two.
    std::string statement() const;
    /// What it rests on, a sentence each.
    std::vector<std::string> assumptions() const;
    /// What `pibinn certify --calibrate` prints.
    std::string text() const;
    /// What `pibinn certify --calibrate --json` writes, one object; what is infinite is null.
    std::string json() const;
};

/// The limits that held-out signals give. Too few for the coverage and confidence asked for are an
/// input error that says how many are needed. study::calibrate recovers signals and calls this.
Calibration calibration_of(std::span<const HeldOutSignal> signals,
                           const CalibrationOptions& options);

/// Keeps a calibration in the metadata of its model, which Model::save writes.
void attach_calibration(Model& model, const Calibration& calibration);

/// The calibration that a model carries.
struct AttachedCalibration {
    bool matches = false;  ///< it was made of these very weights
    std::string statement;
    double coverage = 0, confidence = 0;
    std::optional<double> residual, length, nonzeros;  ///< limits
};
std::optional<AttachedCalibration> attached_calibration(const Model& model);

}  // namespace pibinn
