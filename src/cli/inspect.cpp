#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "pibinn/model.hpp"

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

std::string domain_text(const SignalDomain& domain) {
    if (domain.plain()) return "";
    std::string text = fmt::format("signals: basis {}", to_string(domain.basis.kind()));
    if (domain.patch > 0) text += fmt::format(", patches of {0} x {0} pixels", domain.patch);
    text += fmt::format(", normalisation {}", to_string(domain.normalize));
    if (domain.mean != 0 || domain.deviation != 1)
        text += fmt::format(" (mean {:.4g}, deviation {:.4g})", domain.mean, domain.deviation);
    return text + fmt::format(", noise {:g}\n", domain.noise_std);
}

std::string metadata_text(const Model& model) {
    std::string text;
    for (const auto& [key, value] : model.metadata)
        text += fmt::format("{}: {}\n", one_line(key), one_line(value));
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
    const auto bytes = std::filesystem::file_size(file);
    console.say(fmt::format("{}\n{}\n{}{}\n{}file: {} bytes\n", model_line(model),
                            bits_table(model), numbers_text(model), domain_text(model.domain),
                            metadata_text(model), grouped(bytes)));
    console.result({{"model", model_json(model)},
                    {"bits", bits_json(bits)},
                    {"architecture", to_string(model.spec.architecture)},
                    {"m", model.op.rows()},
                    {"n", model.op.cols()},
                    {"scale", model.scale()},
                    {"theta", model.theta},
                    {"basis", to_string(model.domain.basis.kind())},
                    {"patch", model.domain.patch},
                    {"metadata", model.metadata}});
}

}  // namespace pibinn::cli
