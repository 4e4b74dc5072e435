// pibinn-bench: what our kernels and our training are measured against. A program of its own: its
// peers are compiled for the machine at hand, so nothing of it may reach the installed program.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/arguments.hpp"
#include "bench/machine.hpp"
#include "bench/report.hpp"
#include "bench/scaling_report.hpp"
#include "core/file.hpp"
#include "pibinn/error.hpp"

namespace pibinn::bench {

namespace {

void print(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        fail_io("cannot write to standard output", "check where it is redirected to");
}

/// A line on a terminal that says how far the bench is.
ProgressSink progress_line(bool quiet) {
    const bool shown = !quiet && ::isatty(STDERR_FILENO) == 1;
    return [shown](const Progress& p) {
        if (shown)
            fmt::print(stderr, "\r{} {}/{}{}", p.task, p.done, p.total,
                       p.done == p.total ? "\r\033[K" : "\033[K");
        return true;
    };
}

/// Text for a person, JSON for a program; with JSON on standard output nothing else goes there.
void tell(const BenchArguments& arguments, const std::string& text,
          const nlohmann::ordered_json& json) {
    if (!arguments.quiet && arguments.json != "-")
        print(fmt::format("{}\n{}\n\n{}", machine_text(), blas_text(), text));
    if (arguments.json == "-")
        print(json.dump(2) + "\n");
    else if (!arguments.json.empty())
        write_file(arguments.json, json.dump(2) + "\n");
}

void run(const BenchArguments& arguments) {
    if (!arguments.help.empty()) return print(arguments.help);
    // Outputs that cannot be written are refused before any work is done.
    for (const std::string& path : {arguments.json, arguments.plot})
        if (!path.empty() && path != "-") AtomicFile probe(path);
    const ProgressSink progress = progress_line(arguments.quiet);
    if (arguments.bench == Bench::scaling) {
        const std::vector<ScalingResult> results = bench_scaling(arguments.options, progress);
        if (!arguments.plot.empty()) write_file(arguments.plot, plot_svg(scaling_plot(results)));
        return tell(arguments, scaling_text(results), scaling_json(results));
    }
    std::vector<BenchResult> results;
    const auto add = [&](Bench which, auto&& measure) {
        if (arguments.bench != which && arguments.bench != Bench::all) return;
        for (BenchResult& result : measure(arguments.options, progress))
            results.push_back(std::move(result));
    };
    if (arguments.bench == Bench::device) add(Bench::device, bench_device);
    if (arguments.bench == Bench::device_train) add(Bench::device_train, bench_device_train);
    add(Bench::latency, bench_latency);
    add(Bench::throughput, bench_throughput);
    add(Bench::train, bench_train);
    tell(arguments, results_text(results), results_json(results));
}

}  // namespace

}  // namespace pibinn::bench

int main(int argc, char** argv) {
    using pibinn::ErrorKind;
    pibinn::bench::restart_with_better_blas(argv);
    try {
        pibinn::bench::run(
            pibinn::bench::parse_arguments({argv + (argc > 0 ? 1 : 0), argv + argc}));
        return 0;
    } catch (const pibinn::Error& error) {
        fmt::print(stderr, "pibinn-bench: error: {}\n", error.what());
        return error.kind() == ErrorKind::failed || error.kind() == ErrorKind::internal ? 1 : 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "pibinn-bench: error: {}; please report this as a bug\n", error.what());
        return 1;
    }
}
