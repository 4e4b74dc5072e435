#include "bench/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "pibinn/packed_model.hpp"

namespace pibinn::bench {

namespace {

constexpr const char* kSeeHelp = "see 'pibinn-bench --help'";
constexpr std::size_t kMostThreads = 1024;
const std::vector<NetworkShape> kShapes{
    {32, 64, 20}, {50, 100, 20}, {256, 512, 20}, {512, 1024, 20}};
constexpr NetworkShape kLargeShape{2048, 4096, 10};
const std::vector<NetworkShape> kTrainedShapes{{5000, 10000, 20}};  // on a device

Bench parse_bench(std::string_view word) {
    static constexpr NameTable<Bench, 7> names{{{Bench::latency, "latency"},
                                                {Bench::device, "device"},
                                                {Bench::device_train, "device-train"},
                                                {Bench::throughput, "throughput"},
                                                {Bench::train, "train"},
                                                {Bench::scaling, "scaling"},
                                                {Bench::all, "all"}}};
    return parse_name(names, word, "bench");
}

NetworkChoice parse_network(std::string_view word) {
    static constexpr NameTable<NetworkChoice, 4> names{
        {{NetworkChoice::one_bit, "one-bit"},
         {NetworkChoice::signs, "signs"},
         {NetworkChoice::tied, "tied"},
         {NetworkChoice::convolution, "convolution"}}};
    return parse_name(names, word, "network");
}

/// The words as they are typed, before they are checked.
struct TypedWords {
    std::string what, kernel = "auto", network = "one-bit";
    std::vector<std::string> sizes;
    int threads = 0;
};

void add_options(CLI::App& app, TypedWords& typed, BenchArguments& arguments) {
    BenchOptions& options = arguments.options;
    const auto option = [&](const char* name, auto& value, const char* what, const char* type) {
        return app.add_option(name, value, what)->type_name(type);
    };
    option(
        "WHAT", typed.what,
        "latency, throughput, train, or all of these; scaling; device and device-train: recovery "
        "and training on a CUDA device",
        "NAME")
        ->required();
    option("--seconds", options.seconds, "per measurement (1)", "S");
    option("--size", typed.sizes, "networks instead of the four usual ones", "MxNxLAYERS");
    option("--network", typed.network,
           "one-bit: on a gaussian operator; signs: on one of +-1; tied: to one of +-1, with "
           "learned shrinks of four pieces; convolution: one-bit on a mask of m - n + 1 taps "
           "(one-bit)",
           "one-bit|signs|tied|convolution");
    app.add_flag("--large", options.large, "networks up to 2048x4096x10, as in all");
    option("--model", options.model, "a model file instead of random networks", "FILE");
    option("--density", options.density,
           "share of x that random networks leave non-zero in every layer (0.1); with --model, of "
           "the signals drawn for it (0.05)",
           "SHARE");
    option("--kernel", typed.kernel, "'pibinn --version' lists them; all: one after the other",
           "auto|all|NAME");
    option("--cases", options.cases,
           "write the arrays and the model of every case here, for peers in other processes",
           "DIR");
    option("--plot", arguments.plot, "scaling: the curves (.svg)", "FILE");
    option("--threads", typed.threads, "the most threads to use; 0 means one per core", "N");
    option("--json", arguments.json, "write the result as JSON; '-' for standard output", "FILE");
    app.add_flag("--quiet", arguments.quiet, "print nothing but errors");
}

[[noreturn]] void fail_unexpected(const CLI::App& app, const std::string& word) {
    if (!word.starts_with('-')) fail_usage(fmt::format("unexpected argument '{}'", word), kSeeHelp);
    const std::string flag = word.substr(0, word.find('='));
    std::vector<std::string> flags;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    const std::string near =
        nearest_name(flag, std::vector<std::string_view>(flags.begin(), flags.end()));
    fail_usage(fmt::format("unknown option '{}'", flag),
               near.empty() ? kSeeHelp : fmt::format("did you mean '{}'?", near));
}

/// Refuses what the bench would ignore.
void require_fitting(const CLI::App& app, const TypedWords& typed, Bench bench) {
    const bool recovers =
        bench == Bench::latency || bench == Bench::throughput || bench == Bench::all;
    const bool cases = recovers || bench == Bench::device;
    const std::vector<std::pair<const char*, bool>> uses{
        {"--size", cases || bench == Bench::device_train},
        {"--large", recovers || bench == Bench::scaling},
        {"--model", cases},
        {"--network", cases},
        {"--density", cases},
        {"--kernel", recovers || bench == Bench::scaling},
        {"--cases", cases || bench == Bench::train},
        {"--plot", bench == Bench::scaling}};
    for (const auto& [flag, used] : uses)
        if (!used && app.count(flag) > 0)
            fail_usage(fmt::format("{} has no meaning for bench '{}'", flag, typed.what),
                       fmt::format("remove it, or {}", kSeeHelp));
    if (app.count("--model") > 0 && (app.count("--large") > 0 || !typed.sizes.empty()))
        fail_usage("--model and sizes of random networks are both given", "choose one");
    if (app.count("--model") > 0 && app.count("--network") > 0)
        fail_usage("--model and --network are both given", "choose one");
    if (bench == Bench::scaling && typed.kernel == "all")
        fail_usage("--kernel all has no meaning for bench 'scaling'", "name one kernel");
}

std::vector<std::string> kernels_of(const std::string& word) {
    const std::vector<std::string> kernels = packed_kernels();
    if (word == "all") return kernels;
    std::vector<std::string_view> known{"auto", "all"};
    known.insert(known.end(), kernels.begin(), kernels.end());
    if (std::find(known.begin(), known.end(), word) == known.end())
        fail_usage(fmt::format("this machine has no kernel '{}'", word),
                   hint_for_unknown(word, known));
    return {word};
}

void complete(BenchArguments& arguments, const TypedWords& typed) {
    BenchOptions& options = arguments.options;
    if (!(options.seconds >= 0 && options.seconds <= 3600))
        fail_usage(fmt::format("--seconds {} is not between 0 and 3600", options.seconds),
                   "give the seconds of one measurement");
    if (options.density && !(*options.density > 0 && *options.density <= 1))
        fail_usage(fmt::format("--density {} is not between 0 and 1", *options.density),
                   "give a share, such as 0.1");
    if (typed.threads < 0 || typed.threads > static_cast<int>(kMostThreads))
        fail_usage(fmt::format("--threads {} is not between 0 and {}", typed.threads, kMostThreads),
                   "give 0 for one thread per core");
    if (!arguments.plot.empty() && !arguments.plot.ends_with(".svg"))
        fail_usage(fmt::format("--plot '{}' does not end in .svg", arguments.plot),
                   "give a name such as scaling.svg");
    for (const std::string& word : typed.sizes) options.shapes.push_back(parse_shape(word));
    if (options.shapes.empty()) {
        options.shapes = arguments.bench == Bench::device_train ? kTrainedShapes : kShapes;
        if (options.large || arguments.bench == Bench::all) options.shapes.push_back(kLargeShape);
    }
    options.kernels = kernels_of(typed.kernel);
    options.network = parse_network(typed.network);
    for (const NetworkShape& shape : options.shapes)
        if (options.network == NetworkChoice::convolution && shape.m < shape.n)
            fail_usage(
                fmt::format("a convolution of {} entries to {} measurements", shape.n, shape.m),
                "give --size with entries + taps - 1 measurements, such as 272x256x10");
    const std::size_t threads = typed.threads > 0 ? static_cast<std::size_t>(typed.threads)
                                                  : std::thread::hardware_concurrency();
    options.threads = {1};
    if (threads > 1) options.threads.push_back(threads);
}

}  // namespace

NetworkShape parse_shape(const std::string& word) {
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

BenchArguments parse_arguments(const std::vector<std::string>& words) {
    CLI::App app(
        "Measures pibinn against what one would use instead, taking turns in one run: the same\n"
        "networks on OpenBLAS, Eigen and as floats in a loop like ours; for a model file FISTA\n"
        "and OMP too; a training step on OpenBLAS. Ratios above 1 mean that we are faster.\n",
        "pibinn-bench");
    app.footer(
        "Example:\n  pibinn-bench latency --size 50x100x20\n"
        "  pibinn-bench throughput --model model.safetensors --json bench.json");
    app.set_help_flag("--help,-h", "show this help");
    app.get_formatter()->column_width(34);
    BenchArguments arguments;
    TypedWords typed;
    add_options(app, typed, arguments);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // from the back
    } catch (const CLI::CallForHelp&) {
        arguments.help = app.help();
        return arguments;
    } catch (const CLI::ExtrasError&) {
        fail_unexpected(app, app.remaining().front());
    } catch (const CLI::ParseError& error) {
        fail_usage(error.what(), kSeeHelp);
    }
    arguments.bench = parse_bench(typed.what);
    require_fitting(app, typed, arguments.bench);
    complete(arguments, typed);
    return arguments;
}

}  // namespace pibinn::bench
