#include <complex>
#include <functional>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "make_corpus.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/model.hpp"

namespace pibinn::fuzz {

namespace {

using nlohmann::json;

NetworkSpec network(WeightKind weights, Activation activation = Activation::soft,
                    const Update& update = Update::accelerated()) {
    NetworkSpec spec;
    spec.layers = 2;
    spec.weights = weights;
    spec.activation = activation;
    spec.update = update;
    return spec;
}

Model small_model(const NetworkSpec& spec, const Structure& structure,
                  OperatorEnsemble ensemble = OperatorEnsemble::gaussian) {
    return untrained_model(spec, Operator::random(structure, ensemble, 1), 0.1);
}

/// A complex matrix: entries of all directions, or +-c +-jc.
Operator complex_operator(bool signs, std::size_t repeat = 1) {
    pibinn::Matrix<std::complex<float>> a(2, 3);
    for (std::size_t l = 0; l < a.size(); ++l) {
        const float re = l % 2 == 0 ? 0.5F : -0.5F, im = l % 3 == 0 ? 0.5F : -0.5F;
        const float size = signs ? 1 : static_cast<float>(l + 1);
        a.values()[l] = {re, im * size};
    }
    return Operator::from_complex(a, repeat);
}

/// Of complex signals, with groups.
Model complex_model(NetworkSpec spec, const Operator& op, Groups groups) {
    spec.groups = groups;
    Model model = untrained_model(spec, op, 0.1);
    model.domain.complex = true;
    model.domain.vectors = op.structure().repeat();
    return model;
}

/// A saved model with a change to its metadata, and without checks of any kind.
void write_changed(const std::filesystem::path& path, const Model& model,
                   const std::function<void(TensorMetadata&)>& change) {
    model.save(path);
    const std::string bytes = read_file(path);
    SafeTensors file = parse_safetensors(bytes, path.string());
    change(file.metadata);
    write_file(path, format_safetensors(file.tensors, file.metadata));
}

/// Sets fields of a JSON object in the metadata.
std::function<void(TensorMetadata&)> with(const char* key, const json& fields) {
    return [key, fields](TensorMetadata& metadata) {
        json object = json::parse(metadata.at(key));
        object.update(fields);
        metadata[key] = object.dump();
    };
}

void make_findings(const std::filesystem::path& f) {
    const Structure dense = Structure::dense(3, 5), row = Structure::repeated(1, 1, 4);
    const Model model = small_model(network(WeightKind::one_bit), dense);
    constexpr const char* structure = "pibinn.structure";
    write_changed(place(f, "findings/model/kind-number"), model, with(structure, {{"kind", 5}}));
    write_changed(place(f, "findings/model/deep-structure"), model, [](TensorMetadata& metadata) {
        const std::string open(5500, '['), close(5500, ']');
        metadata[structure] = R"({"kind":"blocks","m":5,"n":9,"blocks":)" + open + close + "}";
    });
    write_changed(place(f, "findings/model/deep-network"), model, [](TensorMetadata& metadata) {
        std::string deep = "1";
        for (int i = 0; i < 2000; ++i) deep = R"({"a":)" + deep + "}";
        metadata["pibinn.network"] = deep;
    });
    constexpr std::uint64_t large = std::uint64_t{1} << 31;
    NetworkSpec fcn = network(WeightKind::one_bit, Activation::soft, Update::plain());
    fcn.architecture = Architecture::fcn;
    fcn.layers = 1;
    write_changed(place(f, "findings/model/large-fcn"), small_model(fcn, Structure::dense(1, 1)),
                  with(structure, {{"m", large}, {"n", 1}}));
    // Operators that follow from a formula need no bit per entry.
    write_changed(place(f, "findings/model/large-formula"),
                  small_model(network(WeightKind::tied), dense, OperatorEnsemble::dct),
                  with(structure, {{"m", 60000}, {"n", 60000}}));
    write_changed(place(f, "findings/model/large-convolution"),
                  untrained_model(network(WeightKind::tied),
                                  Operator::convolution(9, 8, {1, 0.5F, -0.25F}, 0), 0.1),
                  with(structure, {{"m", large}, {"n", large}}));
    // Before it was refused, the pattern was made; and polish copies columns of it in full.
    NetworkSpec polished = network(WeightKind::tied);
    polished.polish = 3;
    const Model taps = untrained_model(polished, Operator::convolution(9, 8, {1, 0.5F}, 0), 0.1);
    write_changed(place(f, "findings/model/wide-convolution"), taps,
                  with(structure, {{"m", 1 << 24}, {"n", 1 << 24}}));
    write_changed(place(f, "findings/model/wide-polish"), taps,
                  with(structure, {{"m", 50001}, {"n", 50000}}));
    NetworkSpec plain = network(WeightKind::one_bit, Activation::soft, Update::plain());
    Model repeated = small_model(plain, row);
    const json often{{"m", large}, {"n", large}, {"repeat", large}};
    write_changed(place(f, "findings/model/large-repeated"), repeated, with(structure, often));
    repeated.domain.basis = Basis::named(BasisKind::dct, repeated.op.cols());
    constexpr std::uint64_t some = std::uint64_t{1} << 28;
    write_changed(place(f, "findings/model/large-basis"), repeated,
                  with(structure, {{"m", some}, {"n", some}, {"repeat", some}}));
}

}  // namespace

void make_models(const std::filesystem::path& f) {
    const auto save = [&](const char* name, const Model& model) {
        model.save(place(f, ("corpus/model/" + std::string(name)).c_str()));
    };
    const Structure dense = Structure::dense(3, 5);
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{2, 3}, {1, 2}};
    save("one-bit", small_model(network(WeightKind::one_bit), dense));
    save("sign-operator",
         small_model(network(WeightKind::one_bit), dense, OperatorEnsemble::rademacher));
    save("zero-one-operator",
         small_model(network(WeightKind::tied), dense, OperatorEnsemble::bernoulli));
    save("hadamard", small_model(network(WeightKind::tied), dense, OperatorEnsemble::hadamard));
    save("dct", small_model(network(WeightKind::one_bit), Structure::repeated(2, 3, 2),
                            OperatorEnsemble::dct));
    save("fourier", small_model(network(WeightKind::tied), Structure::blocks(shapes),
                                OperatorEnsemble::fourier));
    save("convolution", untrained_model(network(WeightKind::tied),
                                        Operator::convolution(9, 8, {1, 0.5F, -0.25F}, 0), 0.1));
    NetworkSpec shrink = network(WeightKind::one_bit, Activation::piecewise);
    shrink.pieces = 2;
    shrink.polish = 3;
    save("piecewise", small_model(shrink, dense));
    shrink.weights = WeightKind::tied;
    save("tied", small_model(shrink, dense, OperatorEnsemble::rademacher));
    save("float", small_model(network(WeightKind::real), dense));
    save("layer", small_model(network(WeightKind::one_bit_layer, Activation::hard), dense));
    save("channel", small_model(network(WeightKind::one_bit_channel), dense));
    save("ternary", small_model(network(WeightKind::ternary), Structure::repeated(2, 3, 2)));
    save("blocks", small_model(network(WeightKind::one_bit), Structure::blocks(shapes)));
    save("mask", small_model(network(WeightKind::one_bit, Activation::soft, Update::plain()),
                             Structure::mask(3, 4, {0, 1, 3, 4, 5}, {0, 0, 2, 1, 2})));
    save("relu",
         small_model(network(WeightKind::one_bit, Activation::relu, Update::plain()), dense));
    NetworkSpec fcn = network(WeightKind::one_bit, Activation::soft, Update::plain());
    fcn.architecture = Architecture::fcn;
    save("fcn", small_model(fcn, dense));
    Model cosine = small_model(network(WeightKind::one_bit), Structure::dense(3, 4));
    cosine.domain.basis = Basis::named(BasisKind::dct2, 4);
    cosine.domain.patch = 2;
    cosine.domain.normalize = Normalize::patch;
    save("dct2", cosine);
    Model certified = small_model(network(WeightKind::one_bit), dense);
    const std::string hash = weights_hash(certified);
    certified.metadata["pibinn.certificate"] =
        json{{"weights_hash", hash}, {"statement", "s"}, {"verdict", "v"}, {"why", "w"}}.dump();
    const json limit{{"value", 0.5}, {"rank", 7}, {"confidence", 0.9}};
    certified.metadata["pibinn.calibration"] =
        json{{"weights_hash", hash}, {"statement", "s"}, {"coverage", 0.9},    {"confidence", 0.9},
             {"residual", limit},    {"length", limit},  {"nonzeros", nullptr}}
            .dump();
    save("certified", certified);
    Model turned = small_model(network(WeightKind::real), Structure::dense(1, 2));
    Matrix<float> psi(2, 2);
    psi(0, 1) = psi(1, 0) = 1;
    turned.domain.basis = Basis::from_matrix(psi, "psi");
    save("basis", turned);
    // What format 3 adds: centred residuals, complex numbers, groups, neighbours, variances.
    NetworkSpec centred = shrink;
    centred.centre = true;
    save("centred", small_model(centred, Structure::dense(6, 5), OperatorEnsemble::bernoulli));
    save("complex",
         complex_model(network(WeightKind::one_bit), complex_operator(false), Groups::complex));
    save("complex-float",
         complex_model(network(WeightKind::real), complex_operator(false), Groups::none));
    save("qpsk", complex_model(network(WeightKind::tied, Activation::piecewise),
                               complex_operator(true), Groups::complex));
    save("complex-rows", complex_model(network(WeightKind::one_bit_channel),
                                       complex_operator(true, 2), Groups::rows));
    shrink.weights = WeightKind::one_bit;
    save("complex-polish", complex_model(shrink, complex_operator(false), Groups::complex));
    NetworkSpec near = network(WeightKind::ternary);
    near.neighbours = 1;
    save("neighbours", complex_model(near, complex_operator(false), Groups::complex));
    Model pairs = small_model(network(WeightKind::one_bit), Structure::repeated(2, 3, 2));
    pairs.spec.groups = Groups::complex;
    pairs.domain.complex = true;
    save("complex-pairs", pairs);
    Model real = small_model(network(WeightKind::one_bit), Structure::dense(4, 5));
    real.domain.complex_measurements = true;
    save("complex-measurements", real);
    NetworkSpec wiener = network(WeightKind::one_bit, Activation::wiener);
    wiener.neighbours = 1;
    save("wiener", small_model(wiener, dense));
    wiener.grid = 2;
    wiener.weights = WeightKind::real;
    save("wiener-grid", small_model(wiener, Structure::dense(3, 4)));
    OperatorFormula spectrum{FormulaKind::dft, {{.rows = {0, 2, 3, 5}}}};
    save("dft", complex_model(network(WeightKind::tied),
                              Operator::from_formula(Structure::complex(2, 3), std::move(spectrum)),
                              Groups::complex));
    make_findings(f);
}

}  // namespace pibinn::fuzz
