#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/certify_text.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "pibinn/model.hpp"
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
    if (!model.theta.empty()) text += fmt::format("theta   {}\n", range_text(model.theta));
    if (!model.beta.empty()) text += fmt::format("beta    {}\n", range_text(model.beta));
    if (!model.omega.empty()) text += fmt::format("omega   {}\n", range_text(model.omega));
    return text;
}

std::string metadata_text(const Model& model) {
    std::string text;
    for (const auto& [key, value] : model.metadata)
        if (key != kCertificateKey) text += fmt::format("{}: {}\n", one_line(key), one_line(value));
    return text;
}

}  // namespace

void run_inspect(const Arguments& arguments) {
    CommandLine line("inspect",
                     "Shows what a model is, the bits it stores (counted as the paper does, and in "
                     "all) and its metadata.",
                     "pibinn inspect model.safetensors");
    std::string file;
    line.required("MODEL", file, "model file (.safetensors)");
    if (!line.parse(arguments)) return;
    const Console console(line.speech());

    const Model model = load_model(file);
    const BitCount bits = count_bits(model);
    const auto attached = AttachedCertificate::of(model);
    const auto bytes = std::filesystem::file_size(file);
    console.say(fmt::format("{}\n{}\n{}\n{}{}file: {} bytes\n", model_line(model),
                            bits_table(model), numbers_text(model), metadata_text(model),
                            attached.text(), grouped(bytes)));
    nlohmann::ordered_json certificate;
    if (attached.present)
        certificate = {{"matches", attached.matches}, {"verdict", attached.verdict}};
    console.result({{"model", model_json(model)},
                    {"bits", bits_json(bits)},
                    {"architecture", to_string(model.spec.architecture)},
                    {"m", model.op.rows()},
                    {"n", model.op.cols()},
                    {"scale", model.scale()},
                    {"theta", model.theta},
                    {"certificate", certificate},
                    {"metadata", model.metadata}});
}

}  // namespace pibinn::cli
