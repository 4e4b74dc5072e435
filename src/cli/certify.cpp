#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "cli/arrays.hpp"
#include "cli/certify_text.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "core/file.hpp"
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

/// "1,5,9" as numbers.
std::vector<std::uint32_t> parse_support(const std::string& text) {
    std::vector<std::uint32_t> entries;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string word = text.substr(at, end - at);
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

/// The supports asked for, with signals to measure on; B is settled where signals are drawn.
CertificateInput make_input(const Model& model, const Source& source, double& B) {
    CertificateInput input;
    if (!source.signals.empty()) {
        input.x = read_rows(source.signals, model.op.cols(), "signal entries");
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

std::string source_line(const Source& source, const Certificate& c, bool B_given) {
    if (!source.signals.empty())
        return fmt::format("supports of the signals of {}; B = {:.4g} {}", source.signals,
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

void add_theorem(CommandLine& line, TheoremInputs& theorem) {
    const auto add = [&](const char* name, double& value, const char* what) {
        line.optional(name, value, what, "VALUE")->group("Theorem 1");
    };
    add("--N", theorem.N, "training signals (as many as are measured)");
    add("--level", theorem.r, "level r: mean squared error (as measured)");
    add("--t", theorem.t, "confidence t (ln(N) / 2)");
    add("--log-gamma", theorem.log_gamma,
        "ln of the covering number (m s ln(1 + 2 rho sqrt N), rho the operator radius)");
    add("--b-theta", theorem.b_theta, "B_theta (lambda sqrt(m s), or the largest ||W_S||)");
    add("--c1", theorem.c1, "factor on the order of C_1 (1)");
    add("--c2", theorem.c2, "factor on the order of C_2 (1)");
    add("--c3", theorem.c3, "factor on the order of C_3 (1)");
}

void check_theorem(const TheoremInputs& t) {
    for (const double value : {t.N, t.r, t.t, t.log_gamma, t.b_theta, t.c1, t.c2, t.c3})
        if (!std::isfinite(value))
            fail_usage(fmt::format("{} is no number for Theorem 1", value),
                       "see 'pibinn certify --help'");
    if (t.N < 0 || t.t < 0 || t.c1 < 0 || t.c2 < 0 || t.c3 < 0)
        fail_usage("a number of Theorem 1 is negative", "see 'pibinn certify --help'");
}

}  // namespace

void run_certify(const Arguments& arguments) {
    CommandLine line(
        "certify",
        "Says what the theory guarantees of a model: how fast errors shrink, how far the answer "
        "can move when the operator, the measurements or the parameters do, and which assumption "
        "fails where. docs/theory.md explains every number.",
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
    line.optional("--support", source.support, "certify one support: its entries, from 0 on",
                  "LIST");
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
    line.app().add_flag("--gram", options.gram,
                        "the operator is Q[S, :] of a Gram matrix, S the --support");
    line.app().add_flag("--suggest", wants_suggestion,
                        "find the delta and the scale that give alpha < 1");
    line.app().add_flag("--attach", attach, "keep the certificate in the model file");
    line.optional("--out", out, "folder for certificate.json, certificate.html and pictures",
                  "DIR");
    add_theorem(line, options.theorem);
    if (!line.parse(arguments)) return;
    require_one_source(source);
    check_theorem(options.theorem);
    const Console console(line.speech());

    Model model = load_model(model_file);
    ThreadPool pool(line.threads());
    const bool B_given = options.B > 0;
    const CertificateInput input = make_input(model, source, options.B);
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
        report.source = source_line(source, certificate, B_given);
        report.command = "pibinn certify";
        for (const std::string& word : arguments) report.command += " " + shell_word(word);
        report.version = version();
        write_folder(out, report, json);
    }
    if (attach) save_model(model, model_file);

    console.say(model_line(model) + source_line(source, certificate, B_given) + "\n" +
                certificate_text(certificate) +
                (report.suggestion ? suggestion_text(certificate, *report.suggestion) : ""));
    console.result(json);
}

}  // namespace pibinn::cli
