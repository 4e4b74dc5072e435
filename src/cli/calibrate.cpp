#include "cli/calibrate.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "core/file.hpp"
#include "core/folder.hpp"
#include "pibinn/calibrate.hpp"
#include "pibinn/error.hpp"
#include "pibinn/version.hpp"
#include "report/calibration_report.hpp"
#include "theory/calibration_json.hpp"

namespace pibinn::cli {

namespace {

constexpr const char* kGroup = "Calibration";
constexpr std::string_view kOwn[] = {"--confidence", "--coverage", "--noise-std", "--snr-db"};
constexpr std::string_view kShared[] = {"--calibrate", "--measurements", "--complex",
                                        "--seed",      "--attach",       "--out",
                                        "--json",      "--quiet",        "--threads"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void write_folder(const Calibration& calibration, const std::string& command,
                  const std::string& folder) {
    const std::string page = calibration_report({calibration, command, std::string(version())});
    make_folder(folder);
    const std::filesystem::path place(folder);
    write_file(place / "calibration.json", calibration.json());
    write_file(place / "calibration.txt", calibration.text());
    write_file(place / "calibration.html", page);
}

}  // namespace

void CalibrateOptions::add_to(CommandLine& line) {
    line_ = &line;
    line.optional("--calibrate", signals_,
                  "bound the errors of all signals drawn like these, which training has not seen",
                  "FILE", kGroup);
    line.optional("--confidence", confidence_,
                  "probability, over the choice of these signals, that the bound holds (0.999)",
                  "P", kGroup);
    line.optional("--coverage", coverage_, "share of all signals that it holds for (0.99)", "P",
                  kGroup);
    line.optional("--noise-std", noise_std_,
                  "deviation of the noise that measurements are made with (as in training)",
                  "VALUE", kGroup);
    line.optional("--snr-db", snr_db_, "the same relative to each measurement", "DB", kGroup);
}

bool CalibrateOptions::asked(const Arguments& arguments) const {
    const bool asked = line_->given("--calibrate");
    for (const std::string& word : arguments) {
        // "--seed=1" is "--seed 1".
        const std::string_view name = std::string_view(word).substr(0, word.find('='));
        if (!name.starts_with("--")) continue;
        if (!asked && contains(kOwn, name))
            fail_usage(fmt::format("{} belongs to --calibrate", name),
                       "add --calibrate x.npy, or remove it");
        if (asked && !contains(kOwn, name) && !contains(kShared, name))
            fail_usage(fmt::format("{} belongs to a certificate, not to --calibrate", name),
                       "run certify twice, once for each");
    }
    return asked;
}

void CalibrateOptions::run(const std::string& model_file, const std::string& measurements,
                           bool complex, std::size_t seed, const std::string& out,
                           bool attach) const {
    const Console console(line_->output());
    const Numbers text = text_numbers(complex, {signals_, measurements});
    Model model = Model::load(model_file);
    if (attach) require_writable(model_file);
    CalibrationOptions options;
    options.confidence = confidence_.value_or(options.confidence);
    options.coverage = coverage_.value_or(options.coverage);
    study::CalibrationInput input;
    input.signals = read_rows(signals_, signals_of(model), text);
    if (!measurements.empty())
        input.measurements = read_rows(measurements, measurements_of(model), text);
    input.noise_std = noise_std_;
    if (snr_db_) input.snr_db = SnrRange{*snr_db_, *snr_db_};
    input.seed = seed;
    input.signals_name = signals_;
    input.measurements_name = measurements;
    ThreadPool pool(line_->threads());
    const Calibration calibration = study::calibrate(model, input, options, pool);
    if (!out.empty()) write_folder(calibration, line_->text(), out);
    if (attach) {
        attach_calibration(model, calibration);
        model.save(model_file);
    }
    console.say(calibration.text());
    console.result(to_json(calibration));
}

}  // namespace pibinn::cli
