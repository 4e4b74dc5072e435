#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/arrays.hpp"
#include "cli/kernels.hpp"
#include "cli/options.hpp"
#include "cli/stopwatch.hpp"
#include "core/names.hpp"
#include "pibinn/array.hpp"
#include "pibinn/model.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/npz.hpp"

namespace pibinn::cli {

namespace {

// Of measurements and signals together: a file may be larger than memory, its chunks are not.
constexpr std::size_t kChunkBytes = 16U << 20U;

bool parse_layers(std::string_view word) {
    static constexpr NameTable<bool, 2> names{{{false, "last"}, {true, "all"}}};
    return parse_name(names, word, "layers");
}

/// What a recovery took.
struct Outcome {
    std::size_t signals = 0;
    std::size_t layers = 1;
    double microseconds = 0;  ///< a signal
};

Batch to_signals(const Model& model, Batch x, ThreadPool& pool) {
    return model.domain.plain() ? std::move(x) : model.domain.to_signals(x, pool);
}

/// Reads, recovers and writes a chunk of rows at a time.
Outcome recover_rows(const Model& model, ArrayRows& y, const std::string& out, Console& console,
                     ThreadPool& pool) {
    const std::size_t row_bytes = sizeof(float) * (model.op.rows() + model.op.cols());
    const std::size_t chunk = std::max<std::size_t>(1, kChunkBytes / row_bytes);
    NpyWriter writer(out, y.rows(), model.op.cols());
    double total = 0;
    for (std::size_t begin = 0; begin < y.rows(); begin += chunk) {
        const std::size_t count = std::min(chunk, y.rows() - begin);
        const Batch part = y.read(begin, count);
        Batch x;
        total += static_cast<double>(count) *
                 microseconds_once(count, [&] { x = recover(model, part, pool); });
        writer.write(to_signals(model, std::move(x), pool));
        console.progress({"recover", begin + count, y.rows(), ""});
    }
    console.clear_progress();
    writer.commit();
    return {y.rows(), 1, total / static_cast<double>(y.rows())};
}

/// x1 .. xK of an archive.
Outcome recover_layers(const Model& model, ArrayRows& rows, const std::string& out,
                       ThreadPool& pool) {
    const Batch y = rows.read(0, rows.rows());
    std::vector<Batch> layers;
    const double microseconds =
        microseconds_once(y.rows(), [&] { recover(model, y, pool, &layers); });
    std::vector<NpzArray> arrays;
    for (std::size_t k = 0; k < layers.size(); ++k) {
        layers[k] = to_signals(model, std::move(layers[k]), pool);
        arrays.push_back({fmt::format("x{}", k + 1), layers[k].view()});
    }
    write_npz(out, arrays);
    return {y.rows(), layers.size(), microseconds};
}

}  // namespace

void run_recover(const Arguments& arguments) {
    CommandLine line(
        "recover",
        "Recovers signals from measurements with a model. The output is float32, one "
        "signal a row; a model with a basis gives signals, not coefficients, and one of "
        "normalize = \"patch\" gives them without their own mean, which was not "
        "measured. A .npy "
        "file may be larger than memory. With --layers all the output is an .npz "
        "archive of x1 .. xK, the estimate after every layer.",
        "pibinn recover model.safetensors --in y.npy --out x.npy");
    std::string model_file, in, out, layers = "last", kernel = "auto";
    line.required("MODEL", model_file, "model file (.safetensors)");
    line.required("--in", in, "measurements, one a row (.npy, .npz, .mat, .csv, FILE:NAME)");
    line.required("--out", out, "recovered signals (.npy; .npz with --layers all)");
    line.optional("--layers", layers, "the estimate of the last layer, or of all", "last|all");
    line.optional("--kernel", kernel, "instruction set; 'pibinn --version' lists them",
                  "auto|NAME");
    if (!line.parse(arguments)) return;
    Console console(line.speech());
    const bool all = parse_layers(layers);
    const std::string used_kernel = use_kernel(kernel);
    require_output(out, {all ? ".npz" : ".npy"});
    require_other_file(out, {model_file, in});

    const Model model = load_model(model_file);
    ArrayRows y(in);
    require_shape(y.rows(), y.cols(), model.op.rows(), "measurements", in);
    ThreadPool pool(line.threads());
    const Outcome outcome =
        all ? recover_layers(model, y, out, pool) : recover_rows(model, y, out, console, pool);

    if (model.domain.normalize == Normalize::patch)
        console.note(
            "the model was trained with normalize = \"patch\": every signal comes back without its "
            "own mean, which you must add");
    console.say(fmt::format("{}: {} signals of {} entries{}, {:.2f} microseconds each\n", out,
                            outcome.signals, model.op.cols(),
                            all ? fmt::format(" after each of {} layers", outcome.layers) : "",
                            outcome.microseconds));
    console.result({{"out", out},
                    {"signals", outcome.signals},
                    {"n", model.op.cols()},
                    {"layers", outcome.layers},
                    {"kernel", used_kernel},
                    {"microseconds_per_signal", outcome.microseconds}});
}

}  // namespace pibinn::cli
