#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pibinn/calibrate.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/recovery_check.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

using nb::literals::operator""_a;

Batch rows_or_none(const nb::object& rows, const RowLayout& layout, const char* name) {
    if (rows.is_none()) return {};
    return split_rows(nb::cast<AnyRows>(rows), layout, name);
}

nb::dict certify_model(Model& model, const nb::object& signals, const nb::object& measurements,
                       const std::vector<std::vector<std::uint32_t>>& supports,
                       std::optional<std::size_t> size, std::size_t samples, std::uint64_t seed,
                       double norm, double noise, bool float32, std::size_t attack, bool attach) {
    CertificateInput input;
    input.signals = rows_or_none(signals, model.domain.signal_rows(), "signals");
    input.measurements =
        rows_or_none(measurements, model.domain.measurement_rows(), "measurements");
    if (supports.size() == 1)
        input.support = supports.front();
    else
        input.supports = supports;
    input.size = size;
    input.samples = samples;
    input.seed = seed;
    input.signals_name = "signals";
    input.measurements_name = "measurements";
    CertificateOptions options;
    options.B = norm;
    options.noise = noise;
    options.float32 = float32;
    options.attack = attack;
    Certificate certificate;
    run_stoppable(nb::none(), [&](const ProgressSink&) {
        ThreadPool pool;
        certificate = certify(model, input, options, pool);
    });
    if (attach) attach_certificate(model, certificate);
    nb::dict words;
    words["statement"] = certificate.statement();
    words["verdict"] = std::string(to_string(certificate.verdict));
    words["text"] = certificate.text();
    words["json"] = certificate.json();
    return words;
}

nb::dict calibrate_model(Model& model, const AnyRows& signals, const nb::object& measurements,
                         std::optional<double> noise_std,
                         std::optional<std::pair<double, double>> snr_db, std::uint64_t seed,
                         double confidence, double coverage, bool attach) {
    study::CalibrationInput input;
    input.signals = split_rows(signals, model.domain.signal_rows(), "signals");
    input.measurements =
        rows_or_none(measurements, model.domain.measurement_rows(), "measurements");
    input.noise_std = noise_std;
    if (snr_db) input.snr_db = SnrRange{snr_db->first, snr_db->second, 0};
    input.seed = seed;
    input.signals_name = "signals";
    input.measurements_name = "measurements";
    Calibration calibration;
    run_stoppable(nb::none(), [&](const ProgressSink&) {
        ThreadPool pool;
        calibration = study::calibrate(model, input, {confidence, coverage}, pool);
    });
    if (attach) attach_calibration(model, calibration);
    nb::dict words;
    words["text"] = calibration.text();
    words["json"] = calibration.json();
    return words;
}

}  // namespace

void bind_certificates(nb::module_& core) {
    core.def("certify", &certify_model, "model"_a, "signals"_a.none(), "measurements"_a.none(),
             "supports"_a, "size"_a, "samples"_a, "seed"_a, "norm"_a, "noise"_a, "float32"_a,
             "attack"_a, "attach"_a);
    core.def("calibrate", &calibrate_model, "model"_a, "signals"_a, "measurements"_a.none(),
             "noise_std"_a, "snr_db"_a, "seed"_a, "confidence"_a, "coverage"_a, "attach"_a);
}

}  // namespace pibinn::python
