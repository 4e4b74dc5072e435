#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/calibrate.hpp"
#include "cli/options.hpp"
#include "core/folder.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/error.hpp"
#include "pibinn/suggest.hpp"
#include "pibinn/version.hpp"
#include "study/certificate_folder.hpp"

namespace pibinn::cli {

namespace {

/// "1,5,9" or "1, 5, 9" as numbers.
std::vector<std::uint32_t> parse_support(const std::string& text) {
    std::vector<std::uint32_t> entries;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        std::string word = text.substr(at, end - at);
        word.erase(0, word.find_first_not_of(' '));
        word.erase(word.find_last_not_of(' ') + 1);
        std::uint32_t entry = 0;
        const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), entry);
        if (code != std::errc() || stop != word.data() + word.size())
            fail_usage(fmt::format("'{}' is no entry of a support", word),
                       "list entries from 0 on, such as --support 1,5,9");
        entries.push_back(entry);
        at = end + 1;
    }
    return entries;
}

void read_signals(const Model& model, Numbers text, CertificateInput& input) {
    if (!input.signals_name.empty())
        input.signals = read_rows(input.signals_name, signals_of(model), text);
    if (!input.measurements_name.empty())
        input.measurements = read_rows(input.measurements_name, measurements_of(model), text);
}

/// A number of Theorem 1 as it was given, and where it goes: unless given, its default stays.
struct TheoremOption {
    const char* name;
    double* target;
    double least;
    const char* what;
    std::optional<double> given;
};

std::vector<TheoremOption> theorem_options(TheoremInputs& t) {
    return {{"--N", &t.N, 1, "training signals, 1 or more (as many as are measured)", {}},
            {"--level", &t.r, 0, "level r: mean squared error (as measured)", {}},
            {"--t", &t.t, 1e-3, "confidence t, 0.001 or more (ln(N) / 2)", {}},
            {"--log-gamma",
             &t.log_gamma,
             0,
             "ln of the covering number (m s ln(1 + 2 rho sqrt N), rho the operator radius)",
             {}},
            {"--b-theta", &t.b_theta, 0, "B_theta (lambda sqrt(m s), or the largest ||W_S||)", {}},
            {"--c1", &t.c1, 0, "factor on the order of C_1 (1)", {}},
            {"--c2", &t.c2, 0, "factor on the order of C_2 (1)", {}},
            {"--c3", &t.c3, 0, "factor on the order of C_3 (1)", {}}};
}

void take(const std::vector<TheoremOption>& options) {
    for (const TheoremOption& option : options) {
        if (!option.given) continue;
        if (!(*option.given >= option.least && std::isfinite(*option.given)))
            fail_usage(fmt::format("{} {} is not a number from {} on", option.name, *option.given,
                                   option.least),
                       "leave it out for its default");
        *option.target = *option.given;
    }
}

}  // namespace

void run_certify(const Arguments& arguments) {
    CommandLine line(
        "certify",
        "Says what the theory guarantees of a model: how fast errors shrink, how far the answer "
        "can move when the operator, the measurements or the parameters do, and which assumption "
        "fails where. docs/theory.md explains every number. A model with a basis takes the signals "
        "themselves, pixels or samples, as eval does, and certifies the supports of their "
        "coefficients. Of a model that was trained with a guarantee its class of signals is "
        "certified unless others are named.",
        "pibinn certify model.safetensors --attack 40    (a model of the recipe guaranteed)\n"
        "  pibinn certify model.safetensors --signals x_test.npy --out certificate\n"
        "  pibinn certify model.safetensors --support 1,5,9 --suggest\n"
        "  pibinn certify model.safetensors --size 5 --samples 2000 --json -\n"
        "  pibinn certify model.safetensors --calibrate x_held_out.npy --attach");
    std::string model_file, out;
    CertificateInput input;
    std::optional<std::string> support;
    CertificateOptions options;
    bool wants_suggestion = false, attach = false;
    line.required("MODEL", model_file, "model file (.safetensors)");
    line.optional("--signals", input.signals_name, "certify the supports of these signals", "FILE");
    line.optional("--measurements", input.measurements_name,
                  "their measurements; without, the operator measures", "FILE");
    bool complex = false;
    line.flag("--complex", complex, kComplexHelp);
    line.optional("--support", support,
                  "certify one support: its entries (of a basis: coefficients), from 0 on", "LIST");
    line.optional("--size", input.size, "certify random supports of S entries, and bound all", "S");
    line.optional("--samples", input.samples, "signals drawn for --support and --size (1000)", "N");
    line.optional("--seed", input.seed, "seed of what is drawn (1)", "N");
    line.optional("--B", options.B,
                  "largest length of a signal (of --signals the longest, otherwise sqrt(S) + 3)",
                  "VALUE");
    line.optional("--noise", options.noise, "largest length of the noise (as measured)", "VALUE");
    line.optional("--operator-radius", options.operator_radius,
                  "cover all operators within this distance (0)", "VALUE");
    line.optional("--weight-radius", options.weight_radius,
                  "cover all weights within this distance (0)", "VALUE");
    line.optional("--threshold-radius", options.threshold_radius,
                  "cover all thresholds within this distance (0)", "VALUE");
    line.flag("--float32", options.float32,
              "cover the rounding of recover too, and not exact arithmetic alone");
    line.flag("--gram", options.gram, "the operator is Q[S, :] of a Gram matrix, S the --support");
    line.optional("--attack", options.attack,
                  "look for the worst signals of the class from N starts, beside the proof", "N");
    line.flag("--suggest", wants_suggestion, "find the delta and the scale that give alpha < 1");
    line.flag("--attach", attach, "keep the certificate or calibration in the model file");
    line.optional("--out", out,
                  "folder for certificate.json, certificate.html and pictures, or calibration.*",
                  "DIR");
    std::vector<TheoremOption> theorem = theorem_options(options.theorem);
    for (TheoremOption& option : theorem)
        line.optional(option.name, option.given, option.what, "VALUE", "Theorem 1");
    CalibrateOptions calibration;
    calibration.add_to(line);
    if (!line.parse(arguments)) return;
    if (calibration.asked(arguments))
        return calibration.run(model_file, input.measurements_name, complex, input.seed, out,
                               attach);
    const Numbers text = text_numbers(complex, {input.signals_name, input.measurements_name});
    take(theorem);
    if (support) input.support = parse_support(*support);
    const Console console(line.output());

    Model model = Model::load(model_file);
    if (attach) require_writable(model_file);
    ThreadPool pool(line.threads());
    read_signals(model, text, input);
    CertificateReport report;
    report.certificate = certify(model, input, options, pool);
    if (wants_suggestion) report.suggestion = suggest(model, input, options, pool);
    if (!out.empty()) {
        report.command = line.text();
        report.version = version();
        study::write_certificate(report, out);
    }
    if (attach) {
        attach_certificate(model, report.certificate);
        model.save(model_file);
    }
    console.say(report.certificate.text() + (report.suggestion ? report.suggestion->text() : ""));
    console.result(study::certificate_json(report));
}

}  // namespace pibinn::cli
