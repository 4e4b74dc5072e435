#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/kernels.hpp"
#include "cli/options.hpp"
#include "cli/ranks.hpp"
#include "cli/row_sink.hpp"
#include "cli/row_source.hpp"
#include "core/names.hpp"
#include "core/numbers.hpp"
#include "data/shared_npy.hpp"
#include "infer/device_recovery.hpp"
#include "infer/kernel_choice.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npz.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/recovery_check.hpp"
#include "study/stopwatch.hpp"

namespace pibinn::cli {

namespace {

bool parse_layers(std::string_view word) {
    static constexpr NameTable<bool, 2> names{{{false, "last"}, {true, "all"}}};
    return parse_name(names, word, "layers");
}

/// What a recovery took.
struct Outcome {
    std::size_t signals = 0;
    std::size_t layers = 1;
    double batch_us = 0;  ///< per signal, over all threads
};

/// Reads, recovers and writes a chunk of rows at a time; of a stream, those that are there.
Outcome recover_rows(const Model& model, const Recoverer& recoverer, const std::string& in,
                     Numbers text, const std::string& out, RecoveryCheck* check, Console& console,
                     ThreadPool& pool) {
    const std::size_t chunk = rows_per_chunk(model.op.rows(), model.op.cols());
    const auto source = open_rows(in, measurements_of(model), text);
    const auto sink = make_rows(out, source->rows(), model.op.cols(), model.domain.signal_rows());
    std::size_t done = 0;
    double total = 0;
    for (Batch y = source->read(chunk); y.rows() > 0; y = source->read(chunk)) {
        const auto recover = [&](ConstBatchView rows, std::size_t first) {
            Batch x;
            total += static_cast<double>(rows.rows) * microseconds_once(rows.rows, [&] {
                         x = recoverer.coefficients(rows, pool, nullptr, first);
                     });
            if (check != nullptr) check->add(rows, x, pool);
            sink->write(recoverer.signals(std::move(x), pool, first));
        };
        try {
            recover(y, done);
        } catch (const Error& error) {
            // A stream gives every row before the one that fails, however it is split into reads.
            const bool overflow = error.kind() == ErrorKind::input;
            for (std::size_t i = 0; overflow && out == "-" && i < y.rows(); ++i)
                recover(y.view().row_range(i, i + 1), done + i);
            throw;
        }
        done += y.rows();
        console.progress({"recover", done, source->rows(), ""});
    }
    console.clear_progress();
    sink->commit();
    return {done, 1, total / static_cast<double>(done)};
}

/// The same where several ranks each have a part of the rows: one file is read by all of them, and
/// one is written.
Outcome recover_parts(const Model& model, const Recoverer& recoverer, const std::string& in,
                      const std::string& out, RecoveryCheck* check, Console& console,
                      ThreadPool& pool) {
    const ExpectedRows expected = measurements_of(model);
    SharedNpyRows source(ranks(), in);
    require_rows(source.rows(), source.cols(), source.numbers(), expected, in);
    const RowLayout layout = model.domain.signal_rows();
    SharedNpyWriter sink(ranks(), out, source.rows(), model.op.cols(), numbers_of(layout));
    const std::size_t begin = source.rows() * ranks().rank() / ranks().size();
    const std::size_t end = source.rows() * (ranks().rank() + 1) / ranks().size();
    const std::size_t chunk = rows_per_chunk(model.op.rows(), model.op.cols());
    double total = 0;
    for (std::size_t at = begin; at < end; at = std::min(end, at + chunk)) {
        Batch y = source.read(at, std::min(chunk, end - at));
        if (expected.layout.complex) y = split_complex(y, expected.layout.vectors);
        Batch x;
        total += static_cast<double>(y.rows()) * microseconds_once(y.rows(), [&] {
                     x = recoverer.coefficients(y, pool, nullptr, at);
                 });
        if (check != nullptr) check->add(y, x, pool);
        sink.write(at, written_rows(recoverer.signals(std::move(x), pool, at), layout));
        // Others are about as far.
        console.progress({"recover", (at + y.rows() - begin) * ranks().size(), source.rows(), ""});
    }
    console.clear_progress();
    sink.commit();
    if (check != nullptr) {
        const std::vector<std::string> parts = ranks().gather_texts(check->json());
        for (std::size_t r = 1; r < parts.size(); ++r) check->append(parts[r]);
    }
    // The slowest rank is how long it took.
    double longest = 0;
    for (const std::string& seconds : ranks().gather_texts(fmt::format("{}", total)))
        longest = std::max(longest, std::strtod(seconds.c_str(), nullptr));
    return {source.rows(), 1, longest / static_cast<double>(source.rows())};
}

/// x1 .. xK of an archive.
Outcome recover_layers(const Model& model, const Recoverer& recoverer, const std::string& in,
                       Numbers text, const std::string& out, RecoveryCheck* check,
                       ThreadPool& pool) {
    const Batch y = read_rows(in, measurements_of(model), text);
    std::vector<Batch> layers;
    Batch last;
    const double batch_us =
        microseconds_once(y.rows(), [&] { last = recoverer.coefficients(y, pool, &layers); });
    if (check != nullptr) check->add(y, last, pool);
    std::vector<NpzArray> arrays;
    const RowLayout layout = model.domain.signal_rows();
    for (std::size_t k = 0; k < layers.size(); ++k) {
        layers[k] = written_rows(recoverer.signals(std::move(layers[k]), pool), layout);
        NpzArray& array =
            arrays.emplace_back(NpzArray{fmt::format("x{}", k + 1), layers[k].view()});
        if (layout.complex) array.values = complex_view(layers[k]);
    }
    write_npz(out, arrays);
    return {y.rows(), layers.size(), batch_us};
}

/// What streams cannot do.
void require_files(const std::string& in, const std::string& out, bool all,
                   const std::string& json) {
    if (all && (in == "-" || out == "-"))
        fail_usage("--layers all reads and writes whole files, not streams",
                   "name files with --in and --out");
    if (out == "-" && json == "-")
        fail_usage("--out - and --json - both want standard output", "write the JSON to a file");
}

/// What several ranks cannot do.
void require_parts(const std::string& in, const std::string& out, bool all) {
    if (!ranks().several()) return;
    if (all) fail_usage("--layers all is for one process", "recover the layers without mpirun");
    for (const std::string& file : {in, out})
        if (!file.ends_with(".npy"))
            fail_usage(fmt::format("several ranks read and write .npy files alone, not '{}'", file),
                       "convert it, or recover without mpirun");
}

}  // namespace

void run_recover(const Arguments& arguments) {
    CommandLine line(
        "recover",
        "Recovers signals from measurements with a model, on its packed bits wherever it has "
        "any. The output is float32, one "
        "signal per row; a model with a basis gives signals, not coefficients, and one of "
        "normalize = \"patch\" gives them without their own mean, which was not "
        "measured. A .npy file may be larger than memory. With --layers all the output is an .npz "
        "archive of x1 .. xK, the estimate after every layer. '-' stands for standard input "
        "and output: raw little-endian float32 rows without a header, each answered as it comes. "
        "A model of complex signals takes and gives complex numbers: complex64 in files, two "
        "columns per number in .csv, real part and imaginary part in turn in streams. "
        "Started by mpirun, each rank recovers its part of one .npy file into one. "
        "--check compares what comes back with the calibration or the certificate that the model "
        "carries, and warns of signals that leave its class.",
        "pibinn recover model.safetensors --in y.npy --out x.npy --check\n"
        "  producer | pibinn recover model.safetensors --in - --out - | consumer");
    std::string model_file, in, out, layers = "last", kernel = "auto";
    line.required("MODEL", model_file, "model file (.safetensors)");
    line.required("--in", in, "measurements, one per row (.npy, .npz, .mat, .csv, FILE:NAME, -)");
    line.required(
        "--out", out,
        "recovered signals (.npy, .npz, .mat, .csv, FILE:NAME, -; .npz with --layers all)");
    line.optional("--layers", layers, "the estimate of the last layer, or of all", "last|all");
    line.optional("--kernel", kernel,
                  "instruction set, one of its kernels ('pibinn --version' lists them), cuda or "
                  "cuda-half",
                  "auto|NAME");
    bool wants_check = false, complex = false;
    line.flag("--complex", complex, kComplexHelp);
    line.flag("--check", wants_check,
              "warn of signals outside the class of the model's calibration or certificate");
    line.takes_ranks();
    if (!line.parse(arguments)) return;
    const bool all = parse_layers(layers);
    const Numbers text = text_numbers(complex, {in});
    require_files(in, out, all, line.output().json);
    require_parts(in, out, all);
    if (!names_device(kernel)) choose_kernel(kernel);  // refused before anything is read
    OutputOptions output = line.output();
    output.data_on_stdout = out == "-";
    Console console(output);
    if (out != "-" && ranks().first()) {
        if (all)
            require_output(out, {".npz"});
        else
            require_array_output(out);
        require_other_file(out, {model_file, in});
    }

    const Model model = Model::load(model_file);
    const Recoverer recoverer(model, kernel);
    const std::string used_kernel =
        recoverer.kernel() == "float" ? use_kernel(kernel) : recoverer.kernel();
    ThreadPool pool(line.threads());
    std::optional<RecoveryCheck> check;
    if (wants_check) check.emplace(model);
    RecoveryCheck* checked = check ? &*check : nullptr;
    const Outcome outcome =
        all                 ? recover_layers(model, recoverer, in, text, out, checked, pool)
        : ranks().several() ? recover_parts(model, recoverer, in, out, checked, console, pool)
                            : recover_rows(model, recoverer, in, text, out, checked, console, pool);
    if (!ranks().first()) return;
    const ExpectedRows signals = signals_of(model);

    if (model.domain.normalize == Normalize::patch)
        console.note(
            "the model was trained with normalize = \"patch\": every signal comes back without "
            "its own mean, which you must add");
    console.say(
        fmt::format("{}: {} signals of {} {}entries{}; batch time {} us per signal over {} "
                    "thread(s){}\n",
                    out == "-" ? "standard output" : out, outcome.signals, signals.entries(),
                    signals.layout.complex ? "complex " : "",
                    all ? fmt::format(" after each of {} layers", outcome.layers) : "",
                    rounded(outcome.batch_us), pool.threads(),
                    ranks().several() ? fmt::format(" of each of {} ranks", ranks().size()) : ""));
    nlohmann::ordered_json result = {{"out", out},
                                     {"signals", outcome.signals},
                                     {"n", signals.entries()},
                                     {"complex", signals.layout.complex},
                                     {"layers", outcome.layers},
                                     {"kernel", used_kernel},
                                     {"microseconds_per_signal", outcome.batch_us},
                                     {"threads", pool.threads()}};
    if (ranks().several()) result["ranks"] = ranks().size();
    if (check) {
        if (check->outside() > 0)
            console.warn(check->text());
        else
            console.say(check->text() + "\n");
        result["check"] = nlohmann::ordered_json::parse(check->json());
    }
    console.result(result);
}

}  // namespace pibinn::cli
