#include <cmath>
#include <complex>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/contains.hpp"
#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "model/cases.hpp"
#include "model/model_parameters.hpp"
#include "model/operator_file.hpp"
#include "pibinn/error.hpp"
#include "pibinn/model.hpp"
#include "pibinn/random.hpp"
#include "pibinn/sparsity.hpp"

// Models of complex operators: what is one complex number is stored once.

namespace pibinn {
namespace {

using Form = OperatorStorage::Form;
using Complex = std::complex<float>;

/// Gaussian, or +-c +-jc.
Operator complex_operator(std::size_t m, std::size_t n, bool signs, std::size_t repeat = 1) {
    Stream stream(5, Purpose::tests);
    Matrix<Complex> a(m, n);
    const auto part = [&] {
        const auto v = static_cast<float>(stream.normal());
        return signs ? std::copysign(0.25F, v) : v;
    };
    for (Complex& v : a.values()) v = {part(), part()};
    return Operator::from_complex(a, repeat);
}

/// Links that differ from each other, on the levels of their kind.
Model some_model(WeightKind kind, const Operator& op, std::size_t layers = 3) {
    NetworkSpec spec;
    spec.layers = layers;
    spec.weights = kind;
    Model model = untrained_model(spec, op, 0.1);
    model.domain.complex = true;
    model.domain.vectors = op.structure().repeat();
    return model;
}

class ComplexModel : public ::testing::Test {
protected:
    ComplexModel()
        : path_(std::filesystem::temp_directory_path() /
                fmt::format("pibinn-complex-{}.safetensors", ::getpid())) {}
    ~ComplexModel() override { std::filesystem::remove(path_); }

    std::size_t stored_bits(const std::function<bool(const std::string&)>& which) const {
        const std::string bytes = read_file(path_);
        std::size_t bits = 0;
        for (const Tensor& t : parse_safetensors(bytes, "file").tensors)
            if (which(t.name)) bits += 8 * t.bytes.size();
        return bits;
    }

    Error refused(const Model& model, const std::function<void(SafeTensors&)>& change) {
        model.save(path_);
        const std::string bytes = read_file(path_);
        SafeTensors file = parse_safetensors(bytes, "file");
        change(file);
        write_safetensors(path_, file.tensors, file.metadata);
        try {
            Model::load(path_);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
            EXPECT_FALSE(error.hint().empty()) << error.what();
            return error;
        }
        ADD_FAILURE() << "loaded without an error";
        return Error(ErrorKind::internal, "");
    }

    std::filesystem::path path_;
};

TEST_F(ComplexModel, RoundTripsToTheBitInEveryKindOfWeights) {
    for (const WeightKind kind : weight_kinds())
        for (const bool signs : {false, true})
            for (const std::size_t repeat : {1UL, 3UL}) {
                const Model model = some_model(kind, complex_operator(5, 7, signs, repeat));
                model.save(path_);
                const Model back = Model::load(path_);
                const std::string what =
                    fmt::format("{}, {} times, signs {}", to_string(kind), repeat, signs);
                EXPECT_EQ(back.op.structure(), model.op.structure()) << what;
                EXPECT_TRUE(back.op.structure().is_complex()) << what;
                EXPECT_TRUE(std::equal(back.op.values().begin(), back.op.values().end(),
                                       model.op.values().begin(), model.op.values().end()))
                    << what;
                EXPECT_EQ(back.weights, model.weights) << what;
                EXPECT_TRUE(back.domain.complex) << what;
                EXPECT_EQ(back.domain.vectors, repeat) << what;
                // The same model gives the same bytes.
                const std::string bytes = read_file(path_);
                back.save(path_);
                EXPECT_EQ(read_file(path_), bytes) << what;
            }
}

TEST_F(ComplexModel, OfBlocksOrAMaskRoundTripsAndStoresWhatItCounts) {
    for (const StructureKind kind : {StructureKind::blocks, StructureKind::mask})
        for (const bool imaginary : {false, true})
            for (const WeightKind weights : weight_kinds()) {
                const Structure places = testing::some_structure(kind);
                const Operator op = testing::some_complex_mask(places, imaginary);
                const Model model = some_model(weights, op, 2);
                model.save(path_);
                const Model back = Model::load(path_);
                const std::string what =
                    fmt::format("{} {} {}", to_string(kind), imaginary, to_string(weights));
                EXPECT_EQ(back.op.structure(), op.structure()) << what;
                EXPECT_EQ(back.op.structure().complex_pattern()->kind(), kind) << what;
                EXPECT_EQ(back.op.structure().has_imaginary(), imaginary) << what;
                EXPECT_TRUE(std::equal(back.op.values().begin(), back.op.values().end(),
                                       op.values().begin(), op.values().end()))
                    << what;
                EXPECT_EQ(back.weights, model.weights) << what;
                const std::size_t numbers = places.links() * (imaginary ? 2 : 1);
                EXPECT_EQ(model.links(), 2 * numbers) << what;
                // The places of blocks are those few numbers that the metadata have, as of real
                // ones; offsets and rows of this small mask take a byte each.
                const std::size_t pattern =
                    kind == StructureKind::mask ? 8 * (places.cols() + 1 + places.links()) : 0;
                EXPECT_EQ(count_bits(model).op, 32 * numbers + pattern) << what;
                const std::size_t stored = stored_bits([](const std::string& name) {
                    return name.starts_with("operator") || name.starts_with("structure");
                });
                EXPECT_EQ(stored, count_bits(model).op) << what;
                const std::string bytes = read_file(path_);
                back.save(path_);
                EXPECT_EQ(read_file(path_), bytes) << what;
            }
}

TEST_F(ComplexModel, OfAMaskThatLiesIsRefused) {
    const Operator op =
        testing::some_complex_mask(testing::some_structure(StructureKind::mask), true);
    const auto structure = [](const char* text) {
        return [text](SafeTensors& f) { f.metadata["pibinn.structure"] = text; };
    };
    for (const WeightKind kind : {WeightKind::tied, WeightKind::one_bit, WeightKind::real})
        for (const char* text :
             {R"({"kind":"mask","m":22,"n":34})", R"({"kind":"mask","m":22,"n":33,"complex":true})",
              R"({"kind":"mask","m":22,"n":34,"complex":true,"imaginary":false})",
              R"({"kind":"mask","m":22,"n":34,"complex":true,"imaginary":0})",
              R"({"kind":"mask","m":22,"n":34,"complex":true,"blocks":[[11,16]]})",
              R"({"kind":"mask","m":22,"n":34,"complex":true,"blocks":[[11,17]]})",
              R"({"kind":"mask","m":40000,"n":40000,"complex":true,"blocks":[[20000,20000]]})",
              R"({"kind":"blocks","m":22,"n":34,"blocks":[[11,17],[11,17]],"complex":true})"})
            refused(some_model(kind, op), structure(text));
}

TEST_F(ComplexModel, CountsRealNumbersOnceAndStoresWhatItCounts) {
    const std::size_t m = 24, n = 40, layers = 4;
    for (const bool signs : {false, true}) {
        const Operator op = complex_operator(m, n, signs);
        EXPECT_EQ(storage_of(op).form, signs ? Form::signs : Form::numbers);
        EXPECT_EQ(operator_bits(op), signs ? 2 * m * n + 32 : 64 * m * n);
        EXPECT_EQ(storage_text(op), signs ? "complex signs, two bits per entry"
                                          : "complex numbers, 64 bits per entry");
        for (const WeightKind kind : weight_kinds()) {
            const Model model = some_model(kind, op, layers);
            const BitCount bits = count_bits(model);
            EXPECT_EQ(bits.op, operator_bits(op));
            EXPECT_EQ(bits.weights, bits_per_link(kind) * 2 * m * n * layers) << to_string(kind);
            EXPECT_EQ(model.links(), 2 * m * n * layers) << to_string(kind);
            const LinkShare share = link_share(model.spec, op.structure());
            EXPECT_EQ(share.links, 2 * m * n * layers);
            EXPECT_EQ(share.dense_weights, 4 * m * n * layers);
            model.save(path_);
            const std::size_t stored = stored_bits([](const std::string&) { return true; });
            EXPECT_GE(stored, bits.total) << to_string(kind);
            EXPECT_LT(stored, bits.total + 16) << to_string(kind);
            const std::size_t operator_stored =
                stored_bits([](const std::string& name) { return name.starts_with("operator"); });
            EXPECT_EQ(operator_stored, bits.op) << to_string(kind);
        }
        // A scale per output: those of a real part and of its imaginary part are one.
        const BitCount channels = count_bits(some_model(WeightKind::one_bit_channel, op, layers));
        EXPECT_EQ(channels.scales, 32 * (n * layers + layers));  // and a step per layer
    }
}

TEST_F(ComplexModel, HoldsTheRealPartsAboveTheImaginaryParts) {
    Matrix<Complex> a(1, 2);
    a(0, 0) = {1, 2};
    a(0, 1) = {3, 4};
    some_model(WeightKind::tied, Operator::from_complex(a)).save(path_);
    const std::string bytes = read_file(path_);
    const SafeTensors file = parse_safetensors(bytes, "file");
    const auto stored = values_of<float>(file.at("operator", TensorType::f32));
    EXPECT_EQ(std::vector<float>(stored.begin(), stored.end()), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_NE(file.metadata.at("pibinn.structure").find("\"complex\":true"), std::string::npos);
    const auto dense = Model::load(path_).op.to_dense();
    const float expected[2][4] = {{1, 3, -2, -4}, {2, 4, 1, 3}};
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(dense(i, j), expected[i][j]);
}

TEST_F(ComplexModel, HasNoFormulaWhateverItsDiagonals) {
    // The block of one complex number is constant along its diagonals, as is that of these.
    Matrix<Complex> one(1, 1), circular(8, 8);
    one(0, 0) = {1, 2};
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 8; ++j)
            circular(i, j) = {static_cast<float>((8 + i - j) % 8), 0};
    for (const auto& a : {one, circular}) {
        const Operator op = Operator::from_complex(a);
        EXPECT_EQ(op.formula(), nullptr);
        EXPECT_EQ(operator_bits(op), 64 * a.size());
    }
    OperatorFormula formula{FormulaKind::dct, {{.rows = {0, 1}}}};
    EXPECT_THROW(Operator::from_formula(Structure::complex(1, 2), formula), Error);
    const Error e = refused(
        some_model(WeightKind::tied, complex_operator(2, 3, false)),
        [](SafeTensors& f) { f.metadata["pibinn.operator"] = R"({"formula":"convolution"})"; });
    EXPECT_TRUE(contains(e.message(), "operator.bands")) << e.what();
}

TEST_F(ComplexModel, WhoseWeightsAreNoPairsIsRefused) {
    Model model = some_model(WeightKind::real, complex_operator(3, 4, false));
    EXPECT_NO_THROW(require_fitting(model));
    model.weights[1][0] += 1;
    try {
        model.save(path_);
        FAIL() << "written";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_TRUE(contains(error.message(), "link 0 of Model::weights[1]")) << error.what();
    }
    model = some_model(WeightKind::real, complex_operator(3, 4, false));
    model.domain.vectors = 3;
    EXPECT_THROW(model.save(path_), Error);
}

TEST_F(ComplexModel, ThatLiesIsRefused) {
    const auto structure = [](const char* text) {
        return [text](SafeTensors& f) { f.metadata["pibinn.structure"] = text; };
    };
    const auto domain = [](const std::string& more) {
        return [more](SafeTensors& f) {
            f.metadata["pibinn.domain"] = R"({"basis":"identity","patch":0,"normalize":"none",)"
                                          R"("mean":0,"deviation":1,"noise_std":0,)" +
                                          more + "}";
        };
    };
    for (const WeightKind kind : {WeightKind::one_bit, WeightKind::real, WeightKind::tied}) {
        const Model model = some_model(kind, complex_operator(2, 3, false));
        // Without the word, twice as many numbers are wanted.
        EXPECT_TRUE(contains(refused(model, structure(R"({"kind":"dense","m":4,"n":6})")).message(),
                             "expected 24"));
        for (const char* text :
             {R"({"kind":"dense","m":5,"n":6,"complex":true})",
              R"({"kind":"dense","m":4,"n":7,"complex":true})",
              R"({"kind":"dense","m":4,"n":6,"complex":1})",
              R"({"kind":"repeated","m":4,"n":6,"repeat":2,"complex":true})",
              R"({"kind":"repeated","m":4,"n":6,"repeat":0,"complex":true})",
              R"({"kind":"mask","m":4,"n":6,"complex":true})",
              R"({"kind":"blocks","m":4,"n":6,"blocks":[[2,3],[2,3]],"complex":true})",
              R"({"kind":"dense","m":2147483648,"n":2147483648,"complex":true})"})
            refused(model, structure(text));
        for (const char* more :
             {R"("complex":1)", R"("complex":true,"vectors":2)", R"("complex":true,"vectors":0)",
              R"("vectors":4)", R"("complex_measurements":"yes")", R"("vectors":1e9)"})
            EXPECT_TRUE(contains(refused(model, domain(more)).message(), "pibinn.domain"));
    }
    const Error e = refused(some_model(WeightKind::tied, complex_operator(2, 3, true)),
                            structure(R"({"kind":"dense","m":4000,"n":6000,"complex":true})"));
    EXPECT_TRUE(contains(e.message(), "do not fit a file of")) << e.what();
}

TEST_F(ComplexModel, WhoseGroupsOrNeighboursDoNotFitIsRefused) {
    const Operator real = Operator::random(Structure::dense(4, 6), OperatorEnsemble::gaussian, 3);
    const auto network = [](const char* more) {
        return [more](SafeTensors& f) {
            std::string& text = f.metadata["pibinn.network"];
            text.insert(1, more);
        };
    };
    // Tied weights have no links whose number would tell.
    for (const WeightKind kind : {WeightKind::one_bit, WeightKind::real, WeightKind::tied})
        for (const auto& [op, more] :
             {std::pair{real, R"("groups":"complex",)"},
              std::pair{complex_operator(2, 3, true), R"("groups":"complex","neighbours":2,)"},
              std::pair{complex_operator(2, 3, true), R"("neighbours":1,"grid":3,)"},
              std::pair{complex_operator(2, 3, false), R"("neighbours":1,"grid":2147483648,)"},
              std::pair{real, R"("groups":"rows","neighbours":4,)"}}) {
            NetworkSpec spec;
            spec.weights = kind;
            const Error e = refused(untrained_model(spec, op, 0.1), network(more));
            EXPECT_TRUE(contains(e.message(), "metadata 'pibinn.network'")) << e.what();
        }
    Model odd = some_model(WeightKind::tied, complex_operator(2, 3, false));
    odd.spec.groups = Groups::complex;
    // A transform gives no pairs unless its rows do.
    refused(odd,
            [](SafeTensors& f) { f.metadata["pibinn.operator"] = R"({"formula":"hadamard"})"; });
}

TEST_F(ComplexModel, WithPolishedGroupsRoundTripsAndRefusesWhatIsNoCut) {
    NetworkSpec spec;
    spec.neighbours = 1;
    spec.polish = 3;
    for (const Groups groups : {Groups::complex, Groups::rows}) {
        spec.groups = groups;
        Model model = untrained_model(spec, complex_operator(3, 5, false, 2), 0.1);
        model.cut = {0.25F};
        model.save(path_);
        const Model back = Model::load(path_);
        EXPECT_EQ(back.spec, spec);
        EXPECT_EQ(back.cut, model.cut);
        const std::string bytes = read_file(path_);
        EXPECT_EQ(parse_safetensors(bytes, "file").metadata.at("pibinn.format"), "3");
        for (const float bad : {-0.25F, NAN, INFINITY, -INFINITY}) {
            const Error e = refused(model, [&](SafeTensors& f) {
                for (Tensor& t : f.tensors)
                    if (t.name == "cut") t.bytes = std::as_bytes(std::span(&bad, 1));
            });
            EXPECT_TRUE(contains(e.message(), "tensor 'cut'")) << e.what();
        }
        refused(model, [](SafeTensors& f) {
            std::erase_if(f.tensors, [](const Tensor& t) { return t.name == "cut"; });
        });
        const Error e = refused(model, [](SafeTensors& f) {
            std::string& text = f.metadata["pibinn.network"];
            const std::string soft = R"("activation":"soft")";
            text.replace(text.find(soft), soft.size(), R"("activation":"wiener")");
        });
        EXPECT_TRUE(contains(e.message(), "keeps every entry")) << e.what();
    }
}

TEST_F(ComplexModel, OfRealSignalsMayHaveComplexMeasurements) {
    NetworkSpec spec;
    const Operator op = Operator::random(Structure::dense(6, 9), OperatorEnsemble::gaussian, 3);
    Model model = untrained_model(spec, op, 0.1);
    model.domain.complex_measurements = true;
    model.save(path_);
    const SignalDomain back = Model::load(path_).domain;
    EXPECT_TRUE(back.complex_measurements);
    EXPECT_FALSE(back.complex);
    EXPECT_TRUE(back.measurement_rows().complex);
    EXPECT_FALSE(back.signal_rows().complex);
}

TEST_F(ComplexModel, OfAFullyConnectedNetworkStoresEveryWeight) {
    NetworkSpec spec;
    spec.architecture = Architecture::fcn;
    spec.update = Update::plain();
    spec.layers = 2;
    const Operator op = complex_operator(3, 4, false);
    Model model = untrained_model(spec, op, 0.1);
    model.domain.complex = true;
    EXPECT_EQ(model.links(), 6u * 8 + 8 * 8);
    model.save(path_);
    const Model back = Model::load(path_);
    EXPECT_EQ(back.weights, model.weights);
    EXPECT_EQ(back.op.structure(), op.structure());
}

TEST_F(ComplexModel, CountsItsZerosAmongAllLinks) {
    Model model = some_model(WeightKind::real, complex_operator(2, 2, false), 1);
    for (float& w : model.weights[0]) w = 0;
    EXPECT_EQ(sparsity(model), 1);
}

}  // namespace
}  // namespace pibinn
