#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/certify_text.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "core/file.hpp"
#include "core/folder.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/error.hpp"
#include "pibinn/suggest.hpp"
#include "pibinn/version.hpp"
#include "report/certificate_report.hpp"
#include "theory/certificate_json.hpp"

namespace pibinn::cli {

namespace {

// Of a signal with N(0, 1) on s entries: longer than sqrt(s) + 3 is one in a hundred at most.
constexpr double kLongTail = 3;
// Relative to a signal's largest coefficient: some units in the last place of float32.
constexpr float kAnalysisNoise = 1e-6F;

struct Source {
    std::string signals, measurements;
    std::optional<std::string> support;  ///< as it was written
    std::optional<std::size_t> size;
    std::size_t samples = 1000;
    std::size_t seed = 1;
};

void require_one_source(const Source& source) {
    const int given =
        !source.signals.empty() + source.support.has_value() + source.size.has_value();
    if (given != 1)
        fail_usage(given == 0 ? "no supports to certify" : "more than one source of supports",
                   "give one of --signals x.npy, --support 1,5,9 or --size 5");
    if (!source.measurements.empty() && source.signals.empty())
        fail_usage("measurements without signals", "give --signals too");
    if (source.samples == 0) fail_usage("--samples 0", "give at least 1");
}

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

/// What the network recovers of signals: their coefficients, as `eval` takes them. The analysis
/// is float32, and what it leaves where a coefficient is zero must not count as an entry of a
/// support.
Batch coefficients(const Model& model, const Batch& signals, ThreadPool& pool) {
    Batch x = model.domain.to_coefficients(signals, pool);
    for (std::size_t i = 0; i < x.rows(); ++i) {
        float largest = 0;
        for (const float v : x.row(i)) largest = std::max(largest, std::abs(v));
        for (float& v : x.row(i))
            if (std::abs(v) <= kAnalysisNoise * largest) v = 0;
    }
    return x;
}

/// The supports asked for, with signals to measure on; B is settled where signals are drawn.
CertificateInput make_input(const Model& model, const Source& source, double& B, ThreadPool& pool) {
    CertificateInput input;
    if (!source.signals.empty()) {
        input.x = read_rows(source.signals, model.op.cols(), "signal entries");
        if (!model.domain.plain()) input.x = coefficients(model, input.x, pool);
        if (!source.measurements.empty())
            input.y = read_rows(source.measurements, model.op.rows(), "measurements");
        return input;
    }
    const auto support =
        source.support ? parse_support(*source.support) : std::vector<std::uint32_t>();
    const std::size_t s = source.size.value_or(support.size());
    if (B == 0) B = std::sqrt(static_cast<double>(s)) + kLongTail;
    input.x = source.size ? signals_of_size(model, s, source.samples, B, source.seed)
                          : signals_on_support(model, support, source.samples, B, source.seed);
    input.size = source.size.value_or(0);
    return input;
}

/// The supports as they were asked for.
nlohmann::ordered_json source_json(const Source& source) {
    if (!source.signals.empty()) {
        nlohmann::ordered_json out = {{"signals", source.signals}};
        if (!source.measurements.empty()) out["measurements"] = source.measurements;
        return out;
    }
    nlohmann::ordered_json out;
    if (source.size)
        out["size"] = *source.size;
    else
        out["support"] = parse_support(*source.support);
    out["samples"] = source.samples;
    out["seed"] = source.seed;
    return out;
}

std::string source_line(const Source& source, const Model& model, const Certificate& c,
                        bool B_given) {
    if (!source.signals.empty())
        return fmt::format("supports of the {}signals of {}; B = {:.4g} {}",
                           model.domain.plain() ? "" : "coefficients of the ", source.signals,
                           c.terms.B, B_given ? "as given" : "is the length of the longest");
    if (source.size)
        return fmt::format(
            "{} random supports of {} entries with a signal each, at most B = {:.4g} "
            "long",
            source.samples, *source.size, c.terms.B);
    return fmt::format("one support; {} signals drawn on it, at most B = {:.4g} long",
                       source.samples, c.terms.B);
}

/// Certificate, page and pictures.
void write_folder(const std::string& folder, const CertificateReport& report,
                  const nlohmann::ordered_json& json) {
    // All of it is made before any of it is written.
    const std::string page = certificate_report(report);
    const std::string spectral = plot_svg(spectral_figure(report.certificate).plot);
    const std::string error = plot_svg(error_figure(report.certificate).plot);
    make_folder(folder);
    const std::filesystem::path out = folder;
    write_file(out / "certificate.json", json.dump(2) + "\n");
    write_file(out / "certificate.html", page);
    write_file(out / "spectral.svg", spectral);
    write_file(out / "error.svg", error);
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
        "Says what the theory guarantees of a model: how fast errors shrink, how far the "
        "answer "
        "can move when the operator, the measurements or the parameters do, and which "
        "assumption "
        "fails where. docs/theory.md explains every number. A model with a basis takes the "
        "signals "
        "themselves, pixels or samples, as eval does, and certifies the supports of their "
        "coefficients.",
        "pibinn certify model.safetensors --signals x_test.npy --out certificate\n"
        "  pibinn certify model.safetensors --support 1,5,9 --suggest\n"
        "  pibinn certify model.safetensors --size 5 --samples 2000 --json -");
    std::string model_file, out;
    Source source;
    CertificateOptions options;
    bool wants_suggestion = false, attach = false;
    line.required("MODEL", model_file, "model file (.safetensors)");
    line.optional("--signals", source.signals, "certify the supports of these signals", "FILE");
    line.optional("--measurements", source.measurements,
                  "their measurements; without, the operator measures", "FILE");
    line.optional("--support", source.support,
                  "certify one support: its entries (of a basis: coefficients), from 0 on", "LIST");
    line.optional("--size", source.size, "certify random supports of S entries, and bound all",
                  "S");
    line.optional("--samples", source.samples, "signals drawn for --support and --size (1000)",
                  "N");
    line.optional("--seed", source.seed, "seed of what is drawn (1)", "N");
    line.optional("--B", options.B,
                  "largest length of a signal (of --signals the longest, else sqrt(S) + 3)",
                  "VALUE");
    line.optional("--noise", options.noise, "largest length of the noise (as measured)", "VALUE");
    line.optional("--operator-radius", options.operator_radius,
                  "cover all operators within this distance (0)", "VALUE");
    line.optional("--weight-radius", options.weight_radius,
                  "cover all weights within this distance (0)", "VALUE");
    line.optional("--threshold-radius", options.threshold_radius,
                  "cover all thresholds within this distance (0)", "VALUE");
    line.flag("--gram", options.gram, "the operator is Q[S, :] of a Gram matrix, S the --support");
    line.flag("--suggest", wants_suggestion, "find the delta and the scale that give alpha < 1");
    line.flag("--attach", attach, "keep the certificate in the model file");
    line.optional("--out", out, "folder for certificate.json, certificate.html and pictures",
                  "DIR");
    std::vector<TheoremOption> theorem = theorem_options(options.theorem);
    for (TheoremOption& option : theorem)
        line.optional(option.name, option.given, option.what, "VALUE", "Theorem 1");
    if (!line.parse(arguments)) return;
    require_one_source(source);
    take(theorem);
    const Console console(line.output());

    Model model = Model::load(model_file);
    ThreadPool pool(line.threads());
    const bool B_given = options.B > 0;
    const CertificateInput input = make_input(model, source, options.B, pool);
    CertificateReport report;
    report.certificate = certify(model, input, options, pool);
    const Certificate& certificate = report.certificate;
    nlohmann::ordered_json json = to_json(certificate);
    json["source"] = source_json(source);
    if (attach) model.metadata[kCertificateKey] = json.dump();
    if (wants_suggestion) {
        report.suggestion = suggest(model, input, options, pool);
        json["suggestion"] =
            to_json(*report.suggestion, certificate.scale > 0 ? certificate.scale : 1);
    }
    if (!out.empty()) {
        report.model = model_line(model);
        report.source = source_line(source, model, certificate, B_given);
        report.command = "pibinn certify";
        for (const std::string& word : arguments) report.command += " " + shell_word(word);
        report.version = version();
        write_folder(out, report, json);
    }
    if (attach) model.save(model_file);

    console.say(model_line(model) + source_line(source, model, certificate, B_given) + "\n" +
                certificate_text(certificate) +
                (report.suggestion ? suggestion_text(certificate, *report.suggestion) : ""));
    console.result(json);
}

}  // namespace pibinn::cli
