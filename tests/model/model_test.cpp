#include "pibinn/model.hpp"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "algebra/activate.hpp"
#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "model/cases.hpp"
#include "model/model_parameters.hpp"
#include "pibinn/error.hpp"

namespace pibinn {
namespace {

using testing::some_parameters;
using testing::some_structure;

class TemporaryFolder : public ::testing::Test {
protected:
    TemporaryFolder()
        : folder_(std::filesystem::temp_directory_path() /
                  fmt::format("pibinn-model-{}", ::getpid())) {
        std::filesystem::create_directories(folder_);
    }
    ~TemporaryFolder() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

class ModelFile : public TemporaryFolder {};

Model some_model(const NetworkSpec& spec, const Operator& op) {
    const auto backend = make_cpu_backend();
    const auto network = make_network(spec, op, *backend);
    Model model = model_of(spec, op, some_parameters(*network, op, *backend, 2));
    model.metadata["seed"] = "7";
    return model;
}

/// The message of the error that loading `path` throws.
std::string load_error(const std::filesystem::path& path) {
    try {
        Model::load(path);
    } catch (const Error& e) {
        return e.what();
    }
    return "loaded without an error";
}

TEST_F(ModelFile, CarriesWhatItsSignalsAre) {
    const Operator op = Operator::random(Structure::dense(6, 16), OperatorEnsemble::gaussian, 3);
    Model model = some_model(NetworkSpec(), op);
    EXPECT_TRUE(model.domain.plain());
    SignalDomain& domain = model.domain;
    domain.basis = Basis::named(BasisKind::dct2, 16);
    domain.patch = 4;
    domain.normalize = Normalize::zscore;
    domain.mean = 0.1 + 1e-17;
    domain.deviation = 1.0 / 3;
    domain.noise_std = 0.05;
    const auto path = folder_ / "m.safetensors";
    model.save(path);
    const SignalDomain back = Model::load(path).domain;
    EXPECT_EQ(back.basis.kind(), BasisKind::dct2);
    EXPECT_EQ(back.patch, 4u);
    EXPECT_EQ(back.normalize, Normalize::zscore);
    EXPECT_EQ(back.mean, domain.mean);
    EXPECT_EQ(back.deviation, domain.deviation);
    EXPECT_EQ(back.noise_std, 0.05);

    Matrix<float> psi(16, 16);
    for (std::size_t i = 0; i < 16; ++i) psi(i, 15 - i) = i % 2 ? -1.0F : 1.0F;
    domain = {};
    domain.basis = Basis::from_matrix(psi, "psi");
    model.save(path);
    EXPECT_EQ(Model::load(path).domain.basis.matrix(), psi);
}

TEST_F(ModelFile, CarriesTheBasisOfComplexVectors) {
    Matrix<float> re(3, 8), im(3, 8);
    re(0, 0) = re(1, 3) = re(2, 5) = im(1, 4) = 1;
    Model model = untrained_model({}, Operator::from_complex(re, im, 2), 0.1);
    SignalDomain& domain = model.domain;
    domain.complex = true;
    domain.vectors = 2;
    Matrix<float> psi(8, 8);
    for (std::size_t i = 0; i < 8; ++i) psi(i, 7 - i) = 1;
    const auto path = folder_ / "c.safetensors";
    for (const Basis& basis :
         {Basis::named(BasisKind::dct, 8), Basis::named(BasisKind::fourier, 8),
          Basis::named(BasisKind::identity, 8), Basis::from_matrix(psi, "psi")}) {
        domain.basis = basis;
        model.save(path);
        const SignalDomain back = Model::load(path).domain;
        EXPECT_EQ(back.basis.kind(), basis.kind());
        EXPECT_EQ(back.basis.length(), basis.length());
        EXPECT_EQ(back.basis.matrix(), basis.matrix());
        EXPECT_TRUE(back.complex && back.vectors == 2);
    }
    for (const Basis& basis : {Basis::named(BasisKind::dct, 16), Basis::named(BasisKind::dct, 32),
                               Basis::named(BasisKind::fourier, 16)}) {
        domain.basis = basis;
        EXPECT_THROW(model.save(path), Error);
    }
}

TEST_F(ModelFile, IsTheBytesOfTheModel) {
    const Operator op = Operator::random(Structure::dense(6, 16), OperatorEnsemble::gaussian, 3);
    const Model model = some_model(NetworkSpec(), op);
    model.save(folder_ / "m.safetensors");
    EXPECT_EQ(model.to_bytes(), read_file(folder_ / "m.safetensors"));
    EXPECT_EQ(Model::from_bytes(model.to_bytes(), "a pickle").to_bytes(), model.to_bytes());
    try {
        Model::from_bytes(model.to_bytes().substr(0, 100), "a pickle");
        ADD_FAILURE() << "loaded without an error";
    } catch (const Error& error) {
        EXPECT_NE(error.message().find("'a pickle'"), std::string::npos) << error.what();
    }
}

TEST_F(ModelFile, RoundTripsEveryStructureAndKindToTheBit) {
    for (auto structure : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                           StructureKind::mask})
        for (const WeightKind weights : weight_kinds())
            for (auto ensemble : {OperatorEnsemble::gaussian, OperatorEnsemble::rademacher})
                for (const Update& update : {Update::plain(), Update::accelerated()}) {
                    if (structure == StructureKind::mask &&
                        ensemble == OperatorEnsemble::rademacher)
                        continue;  // its columns differ in length, so its entries in magnitude
                    NetworkSpec spec;
                    spec.layers = 3;
                    spec.weights = weights;
                    spec.update = update;
                    spec.update.step |= spec.tied();
                    spec.delta = 0.9;
                    if (!update.is_plain()) {
                        spec.activation = Activation::piecewise;
                        spec.pieces = 3;
                        spec.polish = 2;
                    }
                    const Operator op = Operator::random(some_structure(structure), ensemble, 4);
                    const Model model = some_model(spec, op);
                    const auto path = folder_ / "model.safetensors";
                    model.save(path);
                    const Model again = Model::load(path);
                    EXPECT_EQ(again.spec, spec);
                    EXPECT_TRUE(again.op.structure() == op.structure());
                    EXPECT_TRUE(std::equal(op.values().begin(), op.values().end(),
                                           again.op.values().begin(), again.op.values().end()));
                    EXPECT_EQ(again.weights, model.weights)
                        << to_string(structure) << to_string(weights);
                    EXPECT_EQ(again.theta, model.theta);
                    EXPECT_EQ(again.gain, model.gain);
                    EXPECT_EQ(again.step, model.step);
                    EXPECT_EQ(again.cut, model.cut);
                    EXPECT_EQ(again.beta, model.beta);
                    EXPECT_EQ(again.omega, model.omega);
                    EXPECT_EQ(again.metadata.at("seed"), "7");

                    // What the file holds is what the accounting says.
                    const std::string bytes = read_file(path);
                    const SafeTensors file = parse_safetensors(bytes, "file");
                    const BitCount bits = count_bits(model);
                    const auto stored = [&](const char* name) {
                        const Tensor* t = file.find(name);
                        return t ? t->bytes.size() : std::size_t{0};
                    };
                    EXPECT_EQ(stored("weights"), (bits.weights + 7) / 8);
                    EXPECT_EQ(8 * (stored("scales") + stored("step") + stored("cut")), bits.scales);
                    EXPECT_EQ(8 * (stored("theta") + stored("gain")), bits.thresholds);
                    EXPECT_EQ(8 * (stored("beta") + stored("omega")), bits.momentum);
                    EXPECT_EQ(stored("operator") + stored("operator.bits") +
                                  stored("operator.scale") + stored("structure.offsets") +
                                  stored("structure.rows"),
                              (bits.op + 7) / 8);
                }
}

TEST_F(ModelFile, KeepsAFullyConnectedNetworkWithoutItsOperator) {
    NetworkSpec spec;
    spec.architecture = Architecture::fcn;
    spec.layers = 3;
    spec.update = Update::plain();
    spec.activation = Activation::relu;
    spec.weights = WeightKind::real;
    const Operator op = Operator::random(Structure::dense(4, 6), OperatorEnsemble::gaussian, 4);
    const Model model = some_model(spec, op);
    model.save(folder_ / "fcn.safetensors");
    EXPECT_EQ(Model::load(folder_ / "fcn.safetensors").weights, model.weights);
    EXPECT_EQ(count_bits(model).total, 32u * (4 * 6 + 2 * 6 * 6));
}

TEST_F(ModelFile, SaysWhatIsWrongWithAForeignOrDamagedFile) {
    const Operator op = Operator::random(Structure::dense(4, 6), OperatorEnsemble::gaussian, 4);
    NetworkSpec spec;
    spec.layers = 2;
    const Model model = some_model(spec, op);
    const auto path = folder_ / "m.safetensors";
    const auto rewrite = [&](auto&& change) {
        model.save(path);
        const std::string bytes = read_file(path);
        SafeTensors file = parse_safetensors(bytes, "file");
        change(file);
        write_safetensors(path, file.tensors, file.metadata);
        return load_error(path);
    };
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) { f.metadata.erase("pibinn.format"); }),
                 "not a pibinn model");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) { f.metadata["pibinn.format"] = "4"; }),
                 "newer pibinn");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) { f.metadata["pibinn.network"] = "[]"; }),
                 "not a JSON object");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) { f.metadata["pibinn.network"] = "{}"; }),
                 "'architecture' is missing");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) {
                     f.metadata["pibinn.structure"] = R"({"kind":"dense","m":200000,"n":200000})";
                 }),
                 "do not fit a file");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) {
                     f.metadata["pibinn.structure"] = R"({"kind":"dense","m":-4,"n":6})";
                 }),
                 "'m' is missing or not a whole number");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) {
                     f.metadata["pibinn.structure"] =
                         R"({"kind":"repeated","m":4,"n":6,"repeat":3})";
                 }),
                 "do not tile");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) {
                     std::erase_if(f.tensors, [](auto& t) { return t.name == "theta"; });
                 }),
                 "theta");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) {
                     f.metadata["pibinn.structure"] = R"({"kind":"dense","m":4,"n":5})";
                 }),
                 "expected 20");
    static const float nan = std::nanf("");
    EXPECT_PRED2(has, rewrite([](SafeTensors& f) {
                     for (Tensor& t : f.tensors)
                         if (t.name == "scales") t.bytes = std::as_bytes(std::span(&nan, 1));
                 }),
                 "'scales' is nan");
}

TEST(BitCount, MatchesThePapersTable) {
    const Operator op = Operator::random(Structure::dense(50, 100), OperatorEnsemble::gaussian, 1);
    NetworkSpec spec;
    spec.update = Update::plain();
    const BitCount bits = count_bits(untrained_model(spec, op, 0.1));
    EXPECT_EQ(bits.weights, 100000u);
    EXPECT_EQ(bits.thresholds, 640u);
    EXPECT_EQ(bits.paper, 100640u);
    EXPECT_EQ(bits.op, 160000u);
    EXPECT_EQ(bits.total, 260672u);

    spec.layers = 5;
    spec.weights = WeightKind::real;
    EXPECT_EQ(count_bits(untrained_model(spec, op, 0.1)).paper, 800160u);
    spec.architecture = Architecture::fcn;
    EXPECT_EQ(count_bits(untrained_model(spec, op, 0.1)).paper, 1440160u);
    spec.activation = Activation::relu;
    EXPECT_EQ(count_bits(untrained_model(spec, op, 0.1)).paper, 1440000u);
}

TEST(BitCount, CountsLinksOfTheStructureOnly) {
    const Operator op =
        Operator::random(Structure::repeated(50, 100, 100), OperatorEnsemble::rademacher, 1);
    NetworkSpec spec;
    spec.layers = 10;
    const BitCount bits = count_bits(untrained_model(spec, op, 0.1));
    EXPECT_EQ(bits.weights, 50000u);  // table_4 of the paper
    EXPECT_EQ(bits.op, 5032u);
    EXPECT_EQ(bits.momentum, 640u);
}

TEST(LinkShare, FallsBelowOneBitADenseWeight) {
    NetworkSpec spec;
    spec.layers = 20;
    const LinkShare dense = link_share(spec, Structure::dense(50, 100));
    EXPECT_EQ(dense.links, 100000u);
    EXPECT_EQ(dense.dense_weights, 100000u);
    EXPECT_EQ(dense.bits_per_dense_weight, 1.0);
    // The paper's 5000 x 10000 operator: 100 K one-bit links.
    const LinkShare repeated = link_share(spec, Structure::repeated(50, 100, 100));
    EXPECT_EQ(repeated.links, 100000u);
    EXPECT_EQ(repeated.dense_weights, 20u * 5000 * 10000);
    EXPECT_DOUBLE_EQ(repeated.bits_per_dense_weight, 1e-4);
    // [Phi1 0; 0 Phi2] has half the links.
    const std::vector<std::pair<std::size_t, std::size_t>> two{{16, 32}, {16, 32}};
    EXPECT_EQ(link_share(spec, Structure::blocks(two)).bits_per_dense_weight, 0.5);
    spec.weights = WeightKind::ternary;
    EXPECT_EQ(link_share(spec, Structure::blocks(two)).bits_per_dense_weight, 1.0);
    spec.architecture = Architecture::fcn;
    EXPECT_EQ(link_share(spec, Structure::dense(50, 100)).bits_per_dense_weight, 2.0);
}

TEST(BitCount, NeedsNoModel) {
    for (auto structure : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                           StructureKind::mask})
        for (auto weights : {WeightKind::real, WeightKind::one_bit, WeightKind::one_bit_layer,
                             WeightKind::one_bit_channel, WeightKind::ternary})
            for (const Update& update : {Update::plain(), Update::accelerated()}) {
                NetworkSpec spec;
                spec.layers = 3;
                spec.weights = weights;
                spec.update = update;
                const Operator op =
                    Operator::random(some_structure(structure), OperatorEnsemble::gaussian, 4);
                const Model model = some_model(spec, op);
                const BitCount bits = count_bits(spec, op);
                EXPECT_EQ(bits.weights, bits_per_link(weights) * model.links());
                EXPECT_EQ(bits.thresholds, 32 * model.theta.size());
                EXPECT_EQ(bits.momentum, 32 * (model.beta.size() + model.omega.size()));
                EXPECT_EQ(bits.total, count_bits(model).total);
            }
}

TEST(UntrainedModel, IsTheSolversFirstIterations) {
    ThreadPool pool(1);
    const Operator op = Operator::random(Structure::dense(8, 12), OperatorEnsemble::gaussian, 1);
    NetworkSpec spec;
    spec.layers = 1;
    spec.weights = WeightKind::real;
    spec.update = Update::plain();
    const Batch y = draw_signals(SparsePrior{0.5, {}}, 3, 8, 1, Purpose::tests, pool);
    const Batch x = recover_coefficients(untrained_model(spec, op, 0.02), y, pool);
    const Batch back = op.adjoint(y, pool);
    for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(x.data()[i],
                    activate(Activation::soft, double{back.data()[i]} / op.squared_norm(), 0.02),
                    1e-6);
}

}  // namespace
}  // namespace pibinn
