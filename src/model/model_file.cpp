#include <fmt/format.h>

#include "algebra/complex_links.hpp"
#include "core/file.hpp"
#include "data/json_fields.hpp"
#include "data/safetensors.hpp"
#include "model/domain_json.hpp"
#include "model/link_codes.hpp"
#include "model/model_claims.hpp"
#include "model/model_parameters.hpp"
#include "model/model_tensors.hpp"
#include "model/network_sites.hpp"
#include "model/operator_file.hpp"
#include "model/spec_json.hpp"
#include "model/storable.hpp"
#include "pibinn/error.hpp"
#include "pibinn/model.hpp"
#include "pibinn/version.hpp"

namespace pibinn {

namespace {

// 1 knows no steps, learned shrinks, tied weights and polish, 2 neither groups, neighbours and
// `wiener` nor centred residuals nor complex numbers; both are read as well. A file says the lowest
// that it needs.
constexpr int kFormat = 3;
constexpr const char* kDomain = "pibinn.domain";

void check_format(const SafeTensors& file) {
    const auto found = file.metadata.find("pibinn.format");
    if (found == file.metadata.end())
        fail_input(fmt::format("{}: metadata 'pibinn.format' is missing", file.where),
                   "this safetensors file is not a pibinn model");
    if (found->second != "1" && found->second != "2" && found->second != std::to_string(kFormat))
        fail_input(fmt::format("{}: format '{}', but this program reads formats 1 to {}",
                               file.where, found->second, kFormat),
                   "a newer pibinn wrote it: update this one");
}

SignalDomain load_domain(const SafeTensors& file, const Structure& s, std::uint64_t file_bytes) {
    const std::size_t n = s.cols();
    if (file.metadata.find(kDomain) == file.metadata.end()) return {};
    const auto read_psi = [&](std::size_t entries) {
        Matrix<float> psi;
        if (file.find("basis")) {
            const auto values = floats(file, "basis", entries * entries);
            psi = Matrix<float>(entries, entries);
            std::copy(values.begin(), values.end(), psi.data());
        }
        return psi;
    };
    const auto [domain, where] = metadata_json(file, kDomain);
    return domain_from_json(domain, s.rows(), n, read_psi, file_bytes, where);
}

}  // namespace

void require_storable(const NetworkSpec& spec, const Operator& op) {
    const bool by_formula = spec.architecture == Architecture::unrolled &&
                            storage_of(op).form == OperatorStorage::Form::formula;
    check_claims("the model", spec, op.structure(), by_formula, count_bits(spec, op).total / 8);
}

namespace {

/// Gives `use` the tensors and the header that a model's file has.
template <class Use>
auto with_tensors(const Model& model, const Use& use) {
    const NetworkSpec& spec = model.spec;
    const Operator& op = model.op;
    const SignalDomain& domain = model.domain;
    require_fitting(model);
    require_storable(spec, op);
    std::vector<Tensor> tensors;

    LinkCodes codes;
    std::vector<float> real;
    if (spec.tied()) {
        // The operator follows.
    } else if (!rules_of(spec.weights).quantised()) {
        const ParameterLayout layout(spec, op.structure());
        real.reserve(layout.weights_size());
        for (std::size_t k = 1; k <= spec.layers; ++k) {
            const auto stored =
                std::span(model.weights[k - 1]).first(layout.structure(k).shared_links());
            real.insert(real.end(), stored.begin(), stored.end());
        }
        tensors.push_back(flat("weights", TensorType::f32, real));
    } else {
        codes = pack_links(model);
        tensors.push_back(flat("weights", TensorType::u8, codes.bits));
        tensors.push_back(flat("scales", TensorType::f32, codes.scales));
    }
    for_each_scalar(model, [&](const char* name, const std::vector<float>& values) {
        if (!values.empty()) tensors.push_back(flat(name, TensorType::f32, values));
    });

    TensorMetadata header = model.metadata;
    const StoredOperator stored(op, spec.architecture == Architecture::unrolled);
    stored.add_to(tensors, header);
    const Matrix<float>& psi = domain.basis.matrix();
    if (psi.rows() > 0)
        tensors.push_back(
            make_tensor<float>("basis", TensorType::f32, {psi.rows(), psi.cols()}, psi.values()));
    if (!domain.plain() || !domain.one_real_vector() || domain.complex_measurements)
        header[kDomain] = domain_to_json(domain).dump();
    const bool own = !spec.entrywise() || spec.centre || op.structure().is_complex() ||
                     domain.measurement_rows().complex || domain.vectors > 1;
    header["pibinn.format"] = std::to_string(own ? kFormat : kFormat - 1);
    header["pibinn.version"] = version();
    header["pibinn.network"] = to_json(spec).dump();
    return use(tensors, header);
}

}  // namespace

void Model::save(const std::filesystem::path& path) const {
    with_tensors(*this, [&](const auto& tensors, const auto& header) {
        write_safetensors(path, tensors, header);
    });
}

std::string Model::to_bytes() const {
    return with_tensors(*this, [](const auto& tensors, const auto& header) {
        return format_safetensors(tensors, header);
    });
}

Model Model::load(const std::filesystem::path& path) {
    return from_bytes(read_file(path), path.string());
}

Model Model::from_bytes(std::string_view content, std::string where) {
    const SafeTensors file = parse_safetensors(content, std::move(where));
    check_format(file);
    Model model;
    const auto [network, network_where] = metadata_json(file, "pibinn.network");
    model.spec = spec_from_json(network, network_where);
    const Structure s = load_structure(file, content.size());
    check_claims(file.where, model.spec, s, has_formula(file), content.size());
    JsonFields(network, network_where).checked([&] { sites_of(model.spec, s); });
    model.op = model.spec.architecture == Architecture::unrolled
                   ? load_operator(file, s)
                   : Operator(s, AlignedBuffer<float>(s.links()));

    const std::size_t layers = model.spec.layers;
    const NetworkSpec& spec = model.spec;
    const std::size_t pieces = spec.thresholds_per_layer();
    if (pieces > 0) model.theta = floats(file, "theta", pieces * layers, true);
    if (spec.has_gains()) model.gain = floats(file, "gain", pieces * layers);
    if (spec.update.step) model.step = floats(file, "step", layers);
    if (spec.update.momentum) model.beta = floats(file, "beta", layers);
    if (spec.update.onsager) model.omega = floats(file, "omega", layers);
    if (spec.local_per_layer() > 0)
        model.local = floats(file, "local", spec.local_per_layer() * layers, true);
    if (spec.has_prior())
        model.prior = floats(file, "prior", ParameterLayout(spec, s).prior().size);
    if (spec.polish > 0) model.cut = floats(file, "cut", 1, true);
    if (spec.tied()) {
        if (file.find("weights"))
            fail_input(fmt::format("{}: tied weights, but there is a tensor 'weights'", file.where),
                       kDamagedModel);
    } else if (!rules_of(model.spec.weights).quantised()) {
        const ParameterLayout layout(model.spec, s);
        std::size_t expected = 0, at = 0;
        for (std::size_t k = 1; k <= layers; ++k) expected += layout.structure(k).shared_links();
        const auto values = floats(file, "weights", expected);
        for (std::size_t k = 1; k <= layers; ++k) {
            const Structure& own = layout.structure(k);
            AlignedBuffer<float>& layer = model.weights.emplace_back(own.links());
            std::copy_n(&values[at], own.shared_links(), layer.begin());
            complete_complex(own, std::span(layer));
            at += own.shared_links();
        }
    } else {
        const auto bits = bytes_of(file, "weights");
        const Tensor& scales = file.at("scales", TensorType::f32);
        unpack_links(bits, floats(file, "scales", scales.bytes.size() / sizeof(float), true),
                     file.where, model);
    }
    model.domain = load_domain(file, s, content.size());
    for (const auto& [key, value] : file.metadata)
        if (key != "pibinn.format" && key != "pibinn.network" && key != kDomain &&
            !is_operator_metadata(key))
            model.metadata[key] = value;
    return model;
}

}  // namespace pibinn
