#include "cli/bench.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/bench_report.hpp"
#include "cli/options.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "pibinn/packed_model.hpp"

namespace pibinn::cli {

namespace {

const std::vector<BenchShape> kShapes{{32, 64, 20}, {50, 100, 20}, {256, 512, 20}, {512, 1024, 20}};
constexpr BenchShape kLargeShape{2048, 4096, 10};

/// "50x100x20"
BenchShape parse_shape(const std::string& word) {
    std::size_t numbers[3] = {};
    const char* at = word.data();
    const char* const end = word.data() + word.size();
    for (std::size_t i = 0; i < 3; ++i) {
        const auto [next, error] = std::from_chars(at, end, numbers[i]);
        const bool last = i == 2;
        if (error != std::errc{} || numbers[i] == 0 || numbers[i] > 100'000 ||
            (last ? next != end : next == end || *next != 'x'))
            fail_usage(fmt::format("--size '{}' is not a network", word),
                       "give measurements x entries x layers, such as 50x100x20");
        at = next + (last ? 0 : 1);
    }
    return {numbers[0], numbers[1], numbers[2]};
}

enum class Bench { latency, throughput, train, scaling, all };

Bench parse_bench(std::string_view word) {
    static constexpr NameTable<Bench, 5> names{{{Bench::latency, "latency"},
                                                {Bench::throughput, "throughput"},
                                                {Bench::train, "train"},
                                                {Bench::scaling, "scaling"},
                                                {Bench::all, "all"}}};
    return parse_name(names, word, "bench");
}

/// The words of the command line.
struct Words {
    std::string what, kernel = "auto", plot;
    std::vector<std::string> sizes;

    void add_to(CommandLine& line, BenchOptions& options) {
        line.required("WHAT", what,
                      "latency, throughput, train, scaling, or all of the first three", "NAME");
        line.optional("--seconds", options.seconds, "for each measurement (1)", "S");
        line.optional("--size", sizes, "networks instead of the four usual ones", "MxNxLAYERS");
        line.flag("--large", options.large, "networks up to 2048x4096x10, as in all");
        line.optional("--model", options.model, "a trained model instead of random networks",
                      "FILE");
        line.optional("--density", options.density,
                      "share of x that random networks leave alive in every layer (0.1); with "
                      "--model, of the signals drawn for it (0.05)",
                      "SHARE");
        line.optional("--kernel", kernel, "'pibinn --version' lists them; all: one after the other",
                      "auto|all|NAME");
        line.optional("--cases", options.cases,
                      "write the arrays and the model of every case here, for other peers", "DIR");
        line.optional("--plot", plot, "scaling: the curves (.svg)", "FILE");
    }

    /// Refuses what the bench would ignore.
    void require_fitting(CommandLine& line, Bench bench) const {
        const bool recovers =
            bench == Bench::latency || bench == Bench::throughput || bench == Bench::all;
        const std::vector<std::pair<const char*, bool>> uses{
            {"--size", recovers},
            {"--large", recovers || bench == Bench::scaling},
            {"--model", recovers},
            {"--density", recovers},
            {"--kernel", bench != Bench::train},
            {"--cases", bench != Bench::scaling},
            {"--plot", bench == Bench::scaling}};
        for (const auto& [flag, used] : uses)
            if (!used && line.given(flag))
                fail_usage(fmt::format("{} has no meaning for bench '{}'", flag, what),
                           "remove it, or see 'pibinn bench --help'");
        if (line.given("--model") && (line.given("--large") || !sizes.empty()))
            fail_usage("--model and sizes of random networks are both given", "choose one");
        if (bench == Bench::scaling && kernel == "all")
            fail_usage("--kernel all has no meaning for bench 'scaling'", "name one kernel");
    }
};

void complete(BenchOptions& options, const Words& words, Bench bench, std::size_t threads) {
    if (!(options.seconds >= 0 && options.seconds <= 3600))
        fail_usage(fmt::format("--seconds {} is not between 0 and 3600", options.seconds),
                   "give the seconds of one measurement");
    if (options.density && !(*options.density > 0 && *options.density <= 1))
        fail_usage(fmt::format("--density {} is not between 0 and 1", *options.density),
                   "give a share, such as 0.1");
    for (const std::string& word : words.sizes) options.shapes.push_back(parse_shape(word));
    if (options.shapes.empty()) {
        options.shapes = kShapes;
        if (options.large || bench == Bench::all) options.shapes.push_back(kLargeShape);
    }
    const std::vector<std::string> kernels = packed_kernels();
    if (words.kernel == "all") {
        options.kernels = kernels;
    } else {
        options.kernels = {words.kernel};
        std::vector<std::string_view> known{"auto", "all"};
        known.insert(known.end(), kernels.begin(), kernels.end());
        if (std::find(known.begin(), known.end(), words.kernel) == known.end())
            fail_usage(fmt::format("this machine has no kernel '{}'", words.kernel),
                       hint_for_unknown(words.kernel, known));
    }
    options.threads = {1};
    if (threads > 1) options.threads.push_back(threads);
}

}  // namespace

void run_bench(const Arguments& arguments) {
    CommandLine line(
        "bench",
        "Measures against what one would use instead, taking turns in one run: the same networks "
        "on OpenBLAS, Eigen and as floats in a loop like ours; for a trained model FISTA and OMP "
        "too; a training step on OpenBLAS. Ratios above 1 mean that we are faster.",
        "pibinn bench latency --size 50x100x20\n"
        "  pibinn bench throughput --model model.safetensors --json bench.json");
    Words words;
    BenchOptions options;
    words.add_to(line, options);
    if (!line.parse(arguments)) return;
    const Bench bench = parse_bench(words.what);
    words.require_fitting(line, bench);
    complete(options, words, bench,
             line.threads() ? line.threads() : std::max(1U, std::thread::hardware_concurrency()));
    if (!words.plot.empty()) require_output(words.plot, {".svg"});
    Console console(line.output());

    if (bench == Bench::scaling) {
        const std::vector<ScalingResult> results = bench_scaling(options, console);
        if (!words.plot.empty()) write_file(words.plot, plot_svg(scaling_plot(results)));
        console.say(fmt::format("{}\n\n{}", machine_text(), scaling_text(results)));
        console.result(scaling_json(results));
        return;
    }
    std::vector<BenchResult> results;
    const auto run = [&](Bench which, auto&& measure) {
        if (bench != which && bench != Bench::all) return;
        for (BenchResult& result : measure(options, console)) results.push_back(std::move(result));
    };
    run(Bench::latency, bench_latency);
    run(Bench::throughput, bench_throughput);
    run(Bench::train, bench_train);
    console.say(fmt::format("{}\n{}\n\n{}", machine_text(), blas_text(), results_text(results)));
    console.result(results_json(results));
}

}  // namespace pibinn::cli
