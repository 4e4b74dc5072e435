#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/contains.hpp"
#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "pibinn/error.hpp"
#include "pibinn/model.hpp"

// Model files that claim what they do not hold, or whose metadata are not what they should be.

namespace pibinn {
namespace {

Model some_model(const Structure& structure = Structure::dense(4, 6), NetworkSpec spec = {}) {
    return untrained_model(spec, Operator::random(structure, OperatorEnsemble::gaussian, 4), 0.1);
}

Model fully_connected() {
    NetworkSpec spec;
    spec.architecture = Architecture::fcn;
    spec.update = Update::plain();
    spec.layers = 1;
    return some_model(Structure::dense(4, 1), spec);
}

class HostileModel : public ::testing::Test {
protected:
    HostileModel()
        : path_(std::filesystem::temp_directory_path() /
                fmt::format("pibinn-hostile-{}.safetensors", ::getpid())) {}
    ~HostileModel() override { std::filesystem::remove(path_); }

    void write_changed(const Model& model, const std::function<void(TensorMetadata&)>& change) {
        model.save(path_);
        const std::string bytes = read_file(path_);
        SafeTensors file = parse_safetensors(bytes, "file");
        change(file.metadata);
        write_safetensors(path_, file.tensors, file.metadata);
    }
    void write_changed(const Model& model, const char* key, const std::string& text) {
        write_changed(model, [&](TensorMetadata& m) { m[key] = text; });
    }

    /// The error of loading this small model after a change of its metadata.
    Error refused(const std::function<void(TensorMetadata&)>& change, Model model = some_model()) {
        write_changed(model, change);
        try {
            Model::load(path_);
        } catch (const Error& error) {
            return error;
        }
        ADD_FAILURE() << "loaded without an error";
        return Error(ErrorKind::internal, "");
    }
    Error refused(const std::string& key, const std::string& text, Model model = some_model()) {
        return refused([&](TensorMetadata& m) { m[key] = text; }, std::move(model));
    }

    std::filesystem::path path_;
};

TEST_F(HostileModel, ThatNestsDeepIsRefused) {
    const std::string deep(200'000, '[');
    for (const char* key : {"pibinn.structure", "pibinn.network", "pibinn.domain"})
        for (const std::string& text : {R"({"kind":"blocks","m":5,"n":9,"blocks":)" + deep,
                                        R"({"kind":"blocks","m":5,"n":9,"blocks":)" + deep +
                                            std::string(200'000, ']') + "}"}) {
            const Error error = refused(key, text);
            EXPECT_EQ(error.kind(), ErrorKind::input);
            EXPECT_PRED2(contains, error.message(), "levels deep");
            EXPECT_PRED2(contains, error.message(), key);
        }
}

TEST_F(HostileModel, WithMetadataOfAnotherTypeIsAnInputError) {
    const std::vector<std::pair<const char*, const char*>> cases{
        {"pibinn.structure", R"({"kind":5,"m":4,"n":6})"},
        {"pibinn.structure", R"({"kind":["mask"],"m":4,"n":6})"},
        {"pibinn.structure", R"({"kind":null,"m":4,"n":6})"},
        {"pibinn.structure", R"({"kind":"dense","m":"4","n":6})"},
        {"pibinn.structure", R"({"kind":"dense","m":4.0,"n":6})"},
        {"pibinn.structure", R"({"kind":"round","m":4,"n":6})"},
        {"pibinn.structure", R"({"kind":"repeated","m":4,"n":6,"repeat":true})"},
        {"pibinn.structure", R"({"kind":"dense","m":4,"n":6,"imaginary":5})"},
        {"pibinn.structure", R"({"kind":"dense","m":4,"n":6,"repeat":"5"})"},
        {"pibinn.structure", R"({"kind":"dense","m":4,"n":6,"blocks":[1]})"},
        {"pibinn.structure", R"({"kind":"blocks","m":4,"n":6,"blocks":7})"},
        {"pibinn.structure", R"({"kind":"blocks","m":4,"n":6,"blocks":[]})"},
        {"pibinn.structure", R"({"kind":"blocks","m":4,"n":6,"blocks":[{"rows":4}]})"},
        {"pibinn.structure", R"({"kind":"dense","m":2147483648,"n":2147483648})"},
        {"pibinn.network", R"({"architecture":{}})"},
        {"pibinn.network", R"({"architecture":"unrolled","layers":"3"})"},
        {"pibinn.domain", R"({"basis":1})"},
        {"pibinn.domain", R"({"basis":"round"})"},
        {"pibinn.domain", R"({"basis":"dct","normalize":"none","mean":[]})"}};
    for (const auto& [key, text] : cases) {
        const Error error = refused(key, text);
        EXPECT_EQ(error.kind(), ErrorKind::input) << text << ": " << error.what();
        EXPECT_PRED2(contains, error.message(), key);
    }
    Error error = refused([](TensorMetadata& m) {
        std::string& network = m["pibinn.network"];
        network.replace(network.find("\"delta\":1.0"), 11, "\"delta\":-1");
    });
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
}

/// The most memory that this process had so far, in bytes.
double peak_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

TEST_F(HostileModel, TakesNoMoreMemoryThanItsFileWarrants) {
    const double before = peak_memory();
    struct Case {
        const char* structure;
        const char* says;
        Model model;
    };
    for (Case& c : std::vector<Case>{
             // A fully connected first layer has m n links, not n min(m, n).
             {R"({"kind":"dense","m":2147483648,"n":1})", "do not fit", fully_connected()},
             {R"({"kind":"dense","m":1,"n":2147483648})", "do not fit", fully_connected()},
             {R"({"kind":"repeated","m":2147483648,"n":2147483648,"repeat":2147483648})",
              "2147483648 repetitions", some_model(Structure::repeated(1, 1, 4))},
             {R"({"kind":"repeated","m":4000000,"n":4000000,"repeat":4000000})",
              "recovering a row of 4000000 entries", some_model(Structure::repeated(1, 1, 4))}}) {
        const Error error = refused("pibinn.structure", c.structure, std::move(c.model));
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        EXPECT_TRUE(contains(error.what(), c.says)) << error.what();
    }
    // The table of the basis would have 2^28 numbers.
    const Error error = refused(
        [](TensorMetadata& m) {
            m["pibinn.structure"] = R"({"kind":"repeated","m":16384,"n":16384,"repeat":16384})";
            m["pibinn.domain"] = R"({"basis":"dct","patch":0,"normalize":"none","mean":0,)"
                                 R"("deviation":1,"noise_std":0})";
        },
        some_model(Structure::repeated(1, 1, 4)));
    EXPECT_TRUE(contains(error.what(), "a basis dct of 16384 entries would take 2147.5 MB"))
        << error.what();
    // So large a prime takes the square of it.
    const Error prime = refused(
        [](TensorMetadata& m) {
            m["pibinn.structure"] = R"({"kind":"repeated","m":32762,"n":32762,"repeat":32762})";
            m["pibinn.domain"] = R"({"basis":"fourier","patch":0,"normalize":"none","mean":0,)"
                                 R"("deviation":1,"noise_std":0,"complex":true})";
        },
        some_model(Structure::repeated(1, 1, 4)));
    EXPECT_TRUE(contains(prime.what(), "a basis fourier of 16381 entries would take 2146.7 MB"))
        << prime.what();
    EXPECT_LT(peak_memory() - before, 64e6);
}

NetworkSpec tied(std::size_t layers) {
    NetworkSpec spec;
    spec.layers = layers;
    spec.weights = WeightKind::tied;
    return spec;
}

Model tied_dct(const NetworkSpec& spec) {
    const Structure dense = Structure::dense(250, 500);
    return untrained_model(spec, Operator::random(dense, OperatorEnsemble::dct, 1), 0.1);
}

/// Two taps, which are as good on a mask of any width.
Model tied_taps(std::size_t layers, std::size_t polish = 0) {
    NetworkSpec spec = tied(layers);
    spec.polish = polish;
    return untrained_model(spec, Operator::convolution(9, 8, {1.0F, 0.5F}, 0), 0.1);
}

std::string mask_of(std::size_t n) {
    return fmt::format(R"({{"kind":"mask","m":{},"n":{}}})", n + 1, n);
}

TEST_F(HostileModel, RecoversInNoMoreMemoryThanItsFileWarrants) {
    // Before recovery kept the last layers alone, these took up to 25 GB for one row.
    const double before = peak_memory();
    ThreadPool pool(1);
    const auto recover = [&] {
        const Model model = Model::load(path_);
        const Batch y(1, model.op.rows());
        EXPECT_EQ(recover_coefficients(model, y, pool), Batch(1, model.op.cols()));
    };
    tied_dct(tied(1000)).save(path_);
    recover();
    for (const std::size_t n : {50'000UL, 300'000UL}) {
        write_changed(tied_taps(50), "pibinn.structure", mask_of(n));
        recover();
    }
    EXPECT_LT(peak_memory() - before, 256e6);
}

TEST_F(HostileModel, ThatWouldTakeTooMuchToRecoverIsRefused) {
    const double before = peak_memory();
    for (const auto& [n, says] : std::vector<std::pair<std::size_t, const char*>>{
             {8'000'000, "would take 256.0 MB"}, {1UL << 24, "beyond any memory"}}) {
        const Error error = refused("pibinn.structure", mask_of(n), tied_taps(2));
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_TRUE(contains(error.what(), says)) << error.what();
    }
    // Polish copies columns of a mask in full.
    Error error = refused("pibinn.structure", mask_of(50'000), tied_taps(2, 3));
    EXPECT_TRUE(contains(error.what(), "and a row of 50000 would take")) << error.what();
    NetworkSpec spec = tied(2);
    spec.polish = 800;
    tied_dct(spec).save(path_);
    EXPECT_NO_THROW(Model::load(path_));
    error = refused("pibinn.structure", R"({"kind":"dense","m":2000,"n":4000})", tied_dct(spec));
    EXPECT_TRUE(contains(error.what(),
                         "2 layers and 800 steps of polish of 8000000 links would "
                         "take 6.42e+09 multiplications"))
        << error.what();
    EXPECT_TRUE(contains(error.what(), "use fewer layers")) << error.what();
    EXPECT_LT(peak_memory() - before, 64e6);
}

TEST_F(HostileModel, OfManyTinyBlocksIsCounted) {
    // 2 links of a bit each take a block and its vectors in memory, in each of many layers.
    const std::vector<std::pair<std::size_t, std::size_t>> shapes(500, {1, 2});
    NetworkSpec spec;
    spec.layers = 2000;
    const Model model = some_model(Structure::blocks(shapes), spec);
    try {
        model.save(path_);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_TRUE(contains(error.what(), "in 500 block(s)")) << error.what();
    }
}

TEST_F(HostileModel, IsNotALargeHonestOne) {
    const std::vector<std::pair<std::size_t, std::size_t>> shapes(1000, {2, 4});
    for (const Structure& structure : {Structure::repeated(8, 16, 16384), Structure::blocks(shapes),
                                       Structure::dense(50, 1000)}) {
        const Model model = some_model(structure);
        model.save(path_);
        EXPECT_NO_THROW(Model::load(path_)) << to_string(structure.kind());
    }
}

TEST_F(HostileModel, OneThatCouldNotBeReadAgainIsNotWritten) {
    NetworkSpec spec;
    spec.layers = 2;
    for (const std::size_t repeat : {1000UL, 80000UL, 100000UL, 1000000UL}) {
        const Model model = some_model(Structure::repeated(5, 10, repeat), spec);
        std::filesystem::remove(path_);
        try {
            model.save(path_);
        } catch (const Error& error) {
            EXPECT_GT(repeat, 1000u);
            EXPECT_TRUE(contains(error.what(), "repetitions are too many")) << error.what();
            EXPECT_FALSE(std::filesystem::exists(path_));
            continue;
        }
        EXPECT_LT(repeat, 1000000u);
        EXPECT_EQ(Model::load(path_).op.structure().repeat(), repeat);
    }
}

}  // namespace
}  // namespace pibinn
