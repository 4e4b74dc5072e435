#include "theory/calibration_json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "data/json_fields.hpp"
#include "pibinn/certificate.hpp"

namespace pibinn {

namespace {

using nlohmann::ordered_json;

ordered_json limit_json(const std::optional<QuantileLimit>& limit) {
    if (!limit) return nullptr;
    return {{"value", limit->value}, {"rank", limit->rank}, {"confidence", limit->confidence}};
}

double ratio_db(double ratio) { return 20 * std::log10(ratio); }

ordered_json relative_json(const std::optional<QuantileLimit>& limit) {
    ordered_json json = limit_json(limit);
    if (limit) json["db"] = ratio_db(limit->value);
    return json;
}

ordered_json source_json(const CalibrationSource& s) {
    ordered_json json = {{"signals", s.signals}};
    if (!s.measurements.empty()) {
        json["measurements"] = s.measurements;
    } else {
        json["noise"] = s.noise;
        json["seed"] = s.seed;
    }
    return json;
}

ordered_json coverage_json(const Calibration::Coverage& row) {
    return {{"coverage", row.share},
            {"error", limit_json(row.error)},
            {"relative", relative_json(row.relative)}};
}

/// The value of a limit that a file carries; nothing where it is none.
std::optional<double> limit_of(const nlohmann::json& json, const char* key) {
    const auto limit = json.find(key);
    if (limit == json.end() || !limit->is_object()) return {};
    const auto value = limit->find("value");
    if (value == limit->end() || !value->is_number() || !std::isfinite(value->get<double>()))
        return {};
    return value->get<double>();
}

/// Throws where a field is missing or of another type.
AttachedCalibration attached_of(const nlohmann::json& json, const Model& model) {
    const JsonFields fields(json, kCalibrationKey);
    AttachedCalibration attached;
    attached.matches = fields.word("weights_hash") == weights_hash(model);
    attached.statement = fields.word("statement");
    attached.coverage = fields.number("coverage");
    attached.confidence = fields.number("confidence");
    attached.residual = limit_of(json, "residual");
    attached.length = limit_of(json, "length");
    attached.nonzeros = limit_of(json, "nonzeros");
    const auto share = [](double value) { return value > 0 && value < 1; };
    attached.matches = attached.matches && share(attached.coverage) && share(attached.confidence);
    return attached;
}

}  // namespace

ordered_json to_json(const Calibration& c) {
    ordered_json coverages = ordered_json::array();
    for (const Calibration::Coverage& row : c.coverages) coverages.push_back(coverage_json(row));
    const Calibration::Coverage& main = c.main();
    return {{"statement", c.statement()},
            {"assumptions", c.assumptions()},
            {"confidence", c.asked.confidence},
            {"coverage", c.asked.coverage},
            {"error", main.error->value},
            {"relative_db",
             main.relative ? ordered_json(ratio_db(main.relative->value)) : ordered_json()},
            {"signals", c.signals},
            {"zero_signals", c.zero_signals},
            {"coverages", coverages},
            {"median_error", c.median_error},
            {"largest_error", c.largest_error},
            {"median_relative_db", ratio_db(c.median_relative)},
            {"largest_relative_db", ratio_db(c.largest_relative)},
            {"residual", limit_json(c.residual)},
            {"length", limit_json(c.length)},
            {"nonzeros", limit_json(c.nonzeros)},
            {"unit", c.unit},
            {"weights_hash", c.weights_hash},
            {"source", source_json(c.source)}};
}

std::string Calibration::json() const {
    // Names of files need not be UTF-8; JSON must be.
    return to_json(*this).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void attach_calibration(Model& model, const Calibration& calibration) {
    model.metadata[kCalibrationKey] =
        to_json(calibration).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::optional<AttachedCalibration> attached_calibration(const Model& model) {
    const auto found = model.metadata.find(kCalibrationKey);
    if (found == model.metadata.end()) return {};
    try {
        return attached_of(parse_json_object(found->second, kCalibrationKey), model);
    } catch (const Error&) {
        // What is damaged or not of pibinn belongs to no weights; the model itself may be sound.
        return AttachedCalibration{};
    }
}

}  // namespace pibinn
