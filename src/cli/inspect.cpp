#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/certify_text.hpp"
#include "cli/inspect_matrix.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/pattern_file.hpp"
#include "core/escape.hpp"
#include "core/numbers.hpp"
#include "model/model_parameters.hpp"
#include "model/operator_file.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/model.hpp"
#include "problem/signal_marks.hpp"
#include "study/model_json.hpp"
#include "theory/calibration_json.hpp"
#include "theory/certificate_json.hpp"

namespace pibinn::cli {

namespace {

std::string range_text(const std::vector<float>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return *least == *most ? fmt::format("{:.4g} in every layer", *least)
                           : fmt::format("{:.4g} to {:.4g}", *least, *most);
}

std::string numbers_text(const Model& model) {
    std::string text;
    if (model.scale() > 0) text += fmt::format("scale   {:.6g}\n", model.scale());
    for_each_scalar(model, [&](const char* name, const std::vector<float>& values) {
        if (!values.empty()) text += fmt::format("{:7} {}\n", name, range_text(values));
    });
    return text;
}

/// What a row of signals is, and of measurements, where these are not plain real vectors.
std::string rows_text(const Model& model) {
    const RowLayout x = model.domain.signal_rows(), y = model.domain.measurement_rows();
    if (!y.complex && x.vectors == 1) return "";
    const auto each = [](const RowLayout& rows, std::size_t numbers) {
        return fmt::format("{}{}", rows.entries(numbers) / rows.vectors,
                           rows.complex ? " complex" : "");
    };
    return fmt::format("signals: {}{} entries from {} measurements\n",
                       x.vectors > 1 ? fmt::format("{} vectors per row, each of ", x.vectors) : "",
                       each(x, model.op.cols()), each(y, model.op.rows()));
}

std::string domain_text(const SignalDomain& domain) {
    if (domain.plain()) return "";
    std::string text = fmt::format("signals: basis {}", to_string(domain.basis.kind()));
    if (domain.patch > 0) text += fmt::format(", patches of {0} x {0} pixels", domain.patch);
    text += fmt::format(", normalisation {}", to_string(domain.normalize));
    if (domain.mean != 0 || domain.deviation != 1)
        text += fmt::format(" (mean {:.4g}, deviation {:.4g})", domain.mean, domain.deviation);
    return text + fmt::format(", noise {:g}\n", domain.noise_std);
}

/// Without what is told in other words, or is of no use to a person.
std::string metadata_text(const Model& model) {
    std::string text;
    for (const auto& [key, value] : model.metadata)
        if (key != kCertificateKey && key != kCalibrationKey && key != kTrainSignalsKey)
            text += fmt::format("{}: {}\n", escaped(key), escaped(value));
    return text;
}

std::string share_text(const Model& model) {
    const LinkShare share = link_share(model.spec, model.op.structure());
    const std::string op = model.spec.architecture == Architecture::unrolled
                               ? fmt::format("operator: {}\n", storage_text(model.op))
                               : "";
    return fmt::format("{} links of {} dense weights, {:.3g} bits per dense weight\n{}",
                       grouped(share.links), grouped(share.dense_weights),
                       share.bits_per_dense_weight, op);
}

nlohmann::ordered_json share_json(const Model& model) {
    const Structure& s = model.op.structure();
    const LinkShare share = link_share(model.spec, s);
    return {{"kind", to_string(s.kind())},
            {"complex", s.is_complex()},
            {"repeat", s.repeat()},
            {"blocks", s.diagonal().size()},
            {"links_per_layer", s.shared_links()},
            {"links", share.links},
            {"dense_weights", share.dense_weights},
            {"bits_per_dense_weight", share.bits_per_dense_weight}};
}

void inspect_model(const std::string& file, const std::string& picture, const Console& console) {
    const Model model = Model::load(file);
    const BitCount bits = count_bits(model);
    const auto attached = attached_certificate(model);
    const auto calibration = attached_calibration(model);
    nlohmann::ordered_json calibrated;
    if (calibration)
        calibrated = {{"matches", calibration->matches}, {"statement", calibration->statement}};
    std::error_code code;  // a pipe has no size
    const auto bytes = std::filesystem::file_size(file, code);
    if (!picture.empty()) {
        const std::vector<PatternPanel> panels{{std::string(to_string(model.op.structure().kind())),
                                                pattern_of(model.op.structure())}};
        write_pattern(panels, picture);
    }
    console.say(fmt::format("{}{}\n{}\n{}{}\n{}{}file: {}\n", model_lines(model), share_text(model),
                            bits_table(model), numbers_text(model),
                            rows_text(model) + domain_text(model.domain), metadata_text(model),
                            attached_text(attached) + calibration_text(calibration),
                            code ? "a stream" : grouped(bytes) + " bytes"));
    nlohmann::ordered_json certificate;
    if (attached)
        certificate = {{"matches", attached->matches},
                       {"verdict", attached->verdict},
                       {"statement", attached->statement}};
    console.result({{"model", model_json(model)},
                    {"bits", bits_json(bits)},
                    {"structure", share_json(model)},
                    {"operator_stored_as", storage_text(model.op)},
                    {"architecture", to_string(model.spec.architecture)},
                    {"m", model.op.rows()},
                    {"n", model.op.cols()},
                    {"complex", model.domain.complex},
                    {"complex_measurements", model.domain.measurement_rows().complex},
                    {"vectors", model.domain.vectors},
                    {"scale", model.scale()},
                    {"theta", model.theta},
                    {"basis", to_string(model.domain.basis.kind())},
                    {"patch", model.domain.patch},
                    {"certificate", certificate},
                    {"calibration", calibrated},
                    {"metadata", model.metadata}});
}

/// The options that only a matrix has: without --structure they are refused.
struct MatrixOptions {
    bool structure = false;
    std::optional<double> zero_below;
    std::optional<std::size_t> layers;
    std::string out;

    MatrixInspection inspection(const std::string& file, const std::string& picture) const {
        MatrixInspection inspection{file, static_cast<float>(zero_below.value_or(0)),
                                    layers.value_or(20), out, picture};
        if (!(inspection.zero_below >= 0 && std::isfinite(inspection.zero_below)))
            fail_usage(fmt::format("--zero-below {} is not a number from 0 on", *zero_below),
                       "give the magnitude below which an entry counts as zero");
        if (inspection.layers == 0 || inspection.layers > 10000)
            fail_usage(fmt::format("--layers {} is not from 1 to 10000", inspection.layers),
                       "give the depth of the network, 20 for example");
        return inspection;
    }
    void refuse_without_structure() const {
        const char* option = zero_below     ? "--zero-below"
                             : layers       ? "--layers"
                             : !out.empty() ? "--out"
                                            : nullptr;
        if (option)
            fail_usage(fmt::format("{} belongs to --structure", option),
                       "add --structure and give a matrix, or remove it");
    }
};

}  // namespace

void run_inspect(const Arguments& arguments) {
    CommandLine line("inspect",
                     "Shows what a model is, the bits it stores (counted as the paper does, and in "
                     "all) and its metadata. With --structure: which structures a matrix has "
                     "(blocks, also after reordering, blocks that repeat, a sparse pattern), what "
                     "a network on each would store, and the configuration that trains it.",
                     "pibinn inspect model.safetensors --picture links.svg\n"
                     "  pibinn inspect A.npy --structure --out structured");
    std::string file, picture;
    MatrixOptions matrix;
    line.required("FILE", file,
                  "model (.safetensors), or with --structure a matrix (.npy, .npz, .mat, .csv)");
    line.flag("--structure", matrix.structure, "find the structure of a matrix");
    line.optional("--zero-below", matrix.zero_below, "entries below this magnitude are zeros (0)",
                  "T");
    line.optional("--layers", matrix.layers, "layers that the bits are counted for (20)", "K");
    line.optional("--out", matrix.out,
                  "folder for the matrix as its configuration reads it, and the configuration",
                  "DIR");
    line.optional("--picture", picture, "draw the pattern of the links (.svg, .png)", "FILE");
    if (!line.parse(arguments)) return;
    const Console console(line.output());
    if (!picture.empty()) require_picture(picture);

    if (matrix.structure) {
        if (!names_array(file))
            fail_usage(fmt::format("--structure needs a matrix, but '{}' is no .npy, .npz, .mat or "
                                   ".csv file",
                                   file),
                       "remove --structure to inspect a model");
        inspect_matrix(matrix.inspection(file, picture), console);
        return;
    }
    matrix.refuse_without_structure();
    if (names_array(file))
        fail_usage(fmt::format("'{}' is an array, not a model", file),
                   "add --structure to look for the structure of a matrix");
    inspect_model(file, picture, console);
}

}  // namespace pibinn::cli
