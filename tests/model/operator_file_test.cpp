#include "model/operator_file.hpp"

#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/contains.hpp"
#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "pibinn/error.hpp"
#include "pibinn/model.hpp"
#include "pibinn/synthetic_problem.hpp"

// Operators in model files: as signs, as zeros and ones, and by their formula.

namespace pibinn {
namespace {

using Form = OperatorStorage::Form;
using Shape = std::pair<std::size_t, std::size_t>;

Operator drawn(OperatorEnsemble ensemble, const Structure& s = Structure::dense(6, 11)) {
    return Operator::random(s, ensemble, 4);
}

Operator binary_sparse(std::size_t m, std::size_t n) {
    SyntheticSpec spec;
    spec.m = m;
    spec.n = n;
    spec.ensemble = OperatorEnsemble::binary_sparse;
    spec.train = spec.test = 1;
    ThreadPool pool(1);
    return make_synthetic(spec, 1, pool).op;
}

std::vector<float> ramp(std::size_t taps) {
    std::vector<float> values(taps);
    for (std::size_t i = 0; i < taps; ++i) values[i] = 0.5F + static_cast<float>(i);
    return values;
}

Model tied_model(const Operator& op) {
    NetworkSpec spec;
    spec.layers = 3;
    spec.weights = WeightKind::tied;
    return untrained_model(spec, op, 0.1);
}

class OperatorFile : public ::testing::Test {
protected:
    OperatorFile()
        : path_(std::filesystem::temp_directory_path() /
                fmt::format("pibinn-operator-{}.safetensors", ::getpid())) {}
    ~OperatorFile() override { std::filesystem::remove(path_); }

    /// The same operator comes back, to the bit, and the file holds what was counted.
    void expect_round_trip(const Model& model, const std::string& what) {
        model.save(path_);
        const Operator& op = model.op;
        const Operator back = Model::load(path_).op;
        ASSERT_EQ(back.structure(), op.structure()) << what;
        ASSERT_TRUE(std::equal(back.values().begin(), back.values().end(), op.values().begin(),
                               op.values().end()))
            << what;
        if (storage_of(op).form == Form::formula) {
            ASSERT_NE(back.formula(), nullptr) << what;
            EXPECT_EQ(*back.formula(), *op.formula()) << what;
        }
        const std::string bytes = read_file(path_);
        std::size_t stored = 0;
        for (const Tensor& t : parse_safetensors(bytes, "file").tensors)
            if (t.name.starts_with("operator") || t.name.starts_with("structure"))
                stored += 8 * t.bytes.size();
        // Bits fill whole bytes in each of three tensors at most.
        EXPECT_GE(stored, operator_bits(op)) << what;
        EXPECT_LT(stored, operator_bits(op) + 24) << what;
    }

    /// The error of loading this model after a change of its tensors and metadata.
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

Tensor& tensor(SafeTensors& file, std::string_view name) {
    for (Tensor& t : file.tensors)
        if (t.name == name) return t;
    throw std::runtime_error("no tensor " + std::string(name));
}

/// Replaces the numbers of a tensor; they must live as long as the file.
template <class T>
void replace(SafeTensors& file, std::string_view name, const std::vector<T>& values) {
    Tensor& t = tensor(file, name);
    t.shape = {values.size()};
    t.bytes = std::as_bytes(std::span<const T>(values));
}

TEST_F(OperatorFile, RoundTripsEveryEnsembleOnEveryStructure) {
    const std::vector<Shape> shapes{{3, 5}, {1, 1}, {4, 9}};
    for (const OperatorEnsemble ensemble :
         {OperatorEnsemble::gaussian, OperatorEnsemble::rademacher, OperatorEnsemble::hadamard,
          OperatorEnsemble::bernoulli, OperatorEnsemble::dct, OperatorEnsemble::fourier})
        for (const Structure& s :
             {Structure::dense(6, 11), Structure::dense(1, 1), Structure::dense(1, 7),
              Structure::dense(40, 80), Structure::repeated(6, 11, 3), Structure::blocks(shapes)}) {
            const Operator op = drawn(ensemble, s);
            NetworkSpec spec;
            spec.layers = 2;
            const std::string what = fmt::format("{} {} {} x {}", to_string(ensemble),
                                                 to_string(s.kind()), s.rows(), s.cols());
            expect_round_trip(untrained_model(spec, op, 0.1), what);
            expect_round_trip(tied_model(op), what);
        }
    expect_round_trip(tied_model(binary_sparse(20, 30)), "binary-sparse");
    expect_round_trip(tied_model(binary_sparse(300, 200)), "rows of 16 bits");
    expect_round_trip(tied_model(binary_sparse(200, 9000)), "offsets of 32 bits");
    for (const Operator& op :
         {Operator::convolution(40, 40, ramp(5), -2), Operator::convolution(44, 40, ramp(5), 0),
          Operator::convolution(36, 40, ramp(5), -4), Operator::convolution(40, 40, {1, 0, 2}, -1),
          Operator::from_dense(Operator::convolution(40, 40, ramp(5), -2).to_dense())})
        expect_round_trip(tied_model(op), "convolution");
}

TEST_F(OperatorFile, SignsOfColumnsComeBackInEveryBlock) {
    // Only one of the blocks has signs.
    const std::vector<Shape> shapes{{4, 9}, {4, 9}};
    OperatorFormula formula{FormulaKind::dct, {{.rows = {0, 3, 5, 8}}, {.rows = {1, 2, 3, 4}}}};
    formula.parts[1].flipped = {true, false, true, true, false, false, false, true, false};
    const Operator op = Operator::from_formula(Structure::blocks(shapes), formula);
    const Model model = tied_model(op);
    model.save(path_);
    const Operator back = Model::load(path_).op;
    EXPECT_TRUE(std::equal(back.values().begin(), back.values().end(), op.values().begin()));
}

TEST_F(OperatorFile, CountsTheBitsThatAreStored) {
    const Structure s = Structure::dense(250, 500);
    const auto bits = [&](OperatorEnsemble ensemble) { return operator_bits(drawn(ensemble, s)); };
    EXPECT_EQ(bits(OperatorEnsemble::gaussian), 32u * 125000);
    EXPECT_EQ(bits(OperatorEnsemble::rademacher), 125000u + 32);
    EXPECT_EQ(bits(OperatorEnsemble::bernoulli), 125000u + 32);
    EXPECT_EQ(bits(OperatorEnsemble::hadamard), 512u + 500 + 32);
    EXPECT_EQ(bits(OperatorEnsemble::dct), 500u + 32);
    EXPECT_EQ(bits(OperatorEnsemble::fourier), 500u + 32);
    EXPECT_EQ(operator_bits(binary_sparse(250, 500)), 4000u + 32 + 8 * 4000 + 16 * 501);
    EXPECT_EQ(operator_bits(binary_sparse(300, 100)), 800u + 32 + 16 * 800 + 16 * 101);
    // 17 taps on 256 entries were 282,144 bits as a mask of numbers.
    const Operator convolution = Operator::convolution(256, 256, ramp(17), -8);
    EXPECT_EQ(operator_bits(convolution), 17u * 32 + 64);
    EXPECT_EQ(32 * (2 * convolution.structure().links() + 257), 282144u);
    EXPECT_EQ(operator_bits(Operator::from_sparse(convolution.to_dense())), 17u * 32 + 64);
    EXPECT_EQ(operator_bits(Operator::from_dense(convolution.to_dense())), 17u * 32 + 64);
}

TEST_F(OperatorFile, TakesTheFormOfTheFewestBits) {
    EXPECT_EQ(storage_of(drawn(OperatorEnsemble::gaussian)).form, Form::numbers);
    EXPECT_EQ(storage_of(drawn(OperatorEnsemble::rademacher)).form, Form::signs);
    EXPECT_EQ(storage_of(drawn(OperatorEnsemble::bernoulli)).form, Form::ones);
    EXPECT_EQ(storage_of(drawn(OperatorEnsemble::dct)).form, Form::formula);
    // A Toeplitz matrix of signs: 5 taps of 32 bits are more than 9 signs.
    const Operator signs = Operator::from_dense([] {
        Matrix<float> a(3, 3);
        const float taps[5] = {1, -1, 1, 1, -1};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) a(i, j) = taps[i + 2 - j];
        return a;
    }());
    ASSERT_NE(signs.formula(), nullptr);
    EXPECT_EQ(storage_of(signs).form, Form::signs);
    EXPECT_EQ(storage_text(drawn(OperatorEnsemble::gaussian)), "numbers, 32 bits per entry");
    EXPECT_EQ(storage_text(drawn(OperatorEnsemble::rademacher)), "signs, one bit per entry");
    EXPECT_EQ(storage_text(drawn(OperatorEnsemble::bernoulli)),
              "zeros and ones, one bit per entry");
    EXPECT_EQ(storage_text(drawn(OperatorEnsemble::hadamard)), "rows of a hadamard transform");
    EXPECT_EQ(storage_text(Operator::convolution(40, 40, ramp(5), -2)),
              "5 taps, constant along the diagonals");
}

TEST_F(OperatorFile, AFullyConnectedNetworkKeepsThePatternAndNoOperator) {
    NetworkSpec spec;
    spec.architecture = Architecture::fcn;
    spec.update = Update::plain();
    spec.layers = 2;
    const Operator op = Operator::convolution(12, 12, ramp(3), -1);
    untrained_model(spec, op, 0.1).save(path_);
    const Model back = Model::load(path_);
    EXPECT_EQ(back.op.structure(), op.structure());
    EXPECT_EQ(count_bits(back).op, 0u);
}

TEST_F(OperatorFile, ADamagedTransformIsRefused) {
    const Model model = tied_model(drawn(OperatorEnsemble::hadamard));
    Error e = refused(
        model, [](SafeTensors& f) { f.metadata["pibinn.operator"] = R"({"formula":"wavelet"})"; });
    EXPECT_TRUE(contains(e.message(), "metadata 'pibinn.operator': unknown formula 'wavelet'"))
        << e.what();
    e = refused(model, [](SafeTensors& f) { f.metadata["pibinn.operator"] = "{}"; });
    EXPECT_TRUE(contains(e.message(), "pibinn.operator")) << e.what();
    e = refused(model, [](SafeTensors& f) { f.metadata["pibinn.operator"] = "[1]"; });
    EXPECT_TRUE(contains(e.message(), "pibinn.operator")) << e.what();
    // dct has 11 rows where hadamard has 16.
    e = refused(model, [](SafeTensors& f) {
        f.metadata["pibinn.operator"] = R"({"formula":"convolution"})";
    });
    EXPECT_TRUE(contains(e.message(), "operator.bands")) << e.what();
    const std::vector<std::uint8_t> none(2, 0), all(2, 255), longer(3, 1), one(1, 255);
    e = refused(model, [&](SafeTensors& f) { replace(f, "operator.rows", none); });
    EXPECT_TRUE(contains(e.message(), "it has 0 rows, its block 6")) << e.what();
    e = refused(model, [&](SafeTensors& f) { replace(f, "operator.rows", all); });
    EXPECT_TRUE(contains(e.message(), "it has 16 rows, its block 6")) << e.what();
    e = refused(model, [&](SafeTensors& f) { replace(f, "operator.rows", longer); });
    EXPECT_TRUE(contains(e.message(), "tensor 'operator.rows' has 3 bytes, expected 2"))
        << e.what();
    e = refused(model, [&](SafeTensors& f) { replace(f, "operator.signs", one); });
    EXPECT_TRUE(contains(e.message(), "tensor 'operator.signs' has 1 bytes, expected 2"))
        << e.what();
    const std::vector<float> infinite{INFINITY}, two{1, 1};
    e = refused(model, [&](SafeTensors& f) { replace(f, "operator.scale", infinite); });
    EXPECT_TRUE(contains(e.message(), "operator.scale")) << e.what();
    e = refused(model, [&](SafeTensors& f) { replace(f, "operator.scale", two); });
    EXPECT_TRUE(contains(e.message(), "operator.scale")) << e.what();
}

TEST_F(OperatorFile, ADamagedConvolutionIsRefused) {
    for (const bool mask : {true, false}) {
        const Operator sparse = Operator::convolution(40, 40, ramp(5), -2);
        const Model model = tied_model(mask ? sparse : Operator::from_dense(sparse.to_dense()));
        for (const auto& [bands, says] :
             std::vector<std::pair<std::vector<std::int32_t>, std::string>>{
                 {{-2, 6}, "band 0 has 6 of the 5 taps that are left"},
                 {{-2, -1}, "band 0 has -1 of the 5 taps that are left"},
                 {{-2, 4}, "5 taps, of which the bands have 4"},
                 {{-2}, "tensor 'operator.bands' has 1 numbers, expected 2"},
                 {{-40, 5}, "5 taps from diagonal -40 on do not fit 40 x 40"},
                 {{38, 5}, "5 taps from diagonal 38 on do not fit 40 x 40"},
                 {{-2147483648, 5}, "do not fit 40 x 40"},
                 {{2147483647, 5}, "do not fit 40 x 40"}}) {
            const Error e =
                refused(model, [&](SafeTensors& f) { replace(f, "operator.bands", bands); });
            EXPECT_TRUE(contains(e.message(), says)) << e.what();
        }
        const std::vector<float> nan{1, 2, NAN, 4, 5};
        const Error e = refused(model, [&](SafeTensors& f) { replace(f, "operator.taps", nan); });
        EXPECT_TRUE(contains(e.message(), "number 2 of tensor 'operator.taps' is nan")) << e.what();
    }
    // Diagonals that leave rows and columns without a link.
    const std::vector<std::int32_t> low{3, 5};
    const Error e = refused(tied_model(Operator::convolution(40, 40, ramp(5), -2)),
                            [&](SafeTensors& f) { replace(f, "operator.bands", low); });
    EXPECT_TRUE(contains(e.message(), "without links")) << e.what();
}

TEST_F(OperatorFile, AFormulaTakesNoMoreMemoryThanIsAllowed) {
    // 13 million entries of 5 x 4 bytes are within 256 MiB, these are not.
    Error e = refused(tied_model(drawn(OperatorEnsemble::dct, Structure::dense(8, 8))),
                      [](SafeTensors& f) {
                          f.metadata["pibinn.structure"] = R"({"kind":"dense","m":6000,"n":6000})";
                      });
    EXPECT_TRUE(
        contains(e.message(),
                 "an operator of 36000000 entries that a formula makes, and a row of 6000 would "
                 "take 721.5 MB of memory; a file of"))
        << e.what();
    EXPECT_TRUE(contains(e.message(), "may take 268.4 MB")) << e.what();
    EXPECT_TRUE(contains(e.hint(), "use blocks or a repeated block")) << e.what();
    e = refused(tied_model(Operator::convolution(40, 40, ramp(5), -2)), [](SafeTensors& f) {
        f.metadata["pibinn.structure"] = R"({"kind":"mask","m":2147483648,"n":2147483648})";
    });
    EXPECT_TRUE(
        contains(e.message(), "an operator of 2147483648 x 2147483648 is beyond any memory"))
        << e.what();
    // What could not be read again is not written.
    std::filesystem::remove(path_);
    Model model = tied_model(drawn(OperatorEnsemble::hadamard));
    model.op = Operator::random(Structure::dense(4900, 4900), OperatorEnsemble::hadamard, 1);
    try {
        model.save(path_);
        FAIL() << "written";
    } catch (const Error& error) {
        EXPECT_TRUE(contains(error.message(), "24010000 entries that a formula makes"))
            << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(OperatorFile, LinksThatNoWeightStoresMustFollowFromAFormula) {
    const Model model = tied_model(drawn(OperatorEnsemble::rademacher));
    const Error e = refused(model, [](SafeTensors& f) {
        f.metadata["pibinn.structure"] = R"({"kind":"dense","m":1000,"n":1000})";
    });
    EXPECT_TRUE(contains(e.message(), "do not fit a file of")) << e.what();
}

}  // namespace
}  // namespace pibinn
