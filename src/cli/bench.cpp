#include "cli/bench.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include <cblas.h>
#include <fmt/format.h>

#include "cli/kernels.hpp"
#include "cli/options.hpp"
#include "pibinn/error.hpp"
#include "report/table.hpp"

namespace pibinn::cli {

namespace {

using nlohmann::ordered_json;

/// The processor by the name it gives itself, and its cores.
std::string machine_text() {
    std::ifstream info("/proc/cpuinfo");
    std::string name = "unknown processor";
    for (std::string text; std::getline(info, text);)
        if (text.starts_with("model name")) {
            name = text.substr(text.find(':') + 2);
            break;
        }
    return fmt::format("{}, {} cores", name, std::thread::hardware_concurrency());
}

std::string blas_text() {
    return fmt::format("{} ({})", openblas_get_config(), openblas_get_corename());
}

std::string results_table(const std::vector<BenchResult>& results) {
    Table table = Table::of({"bench", "update", "density", "batch", "threads", "ours ms", "peer",
                             "peer ms", "ratio", "error"});
    for (const BenchResult& r : results)
        table.add({r.name, r.update, fmt::format("{:.1f} %", 100 * r.density),
                   std::to_string(r.batch), std::to_string(r.threads),
                   fmt::format("{:.1f}", r.ours_us / 1000), r.peer,
                   fmt::format("{:.1f}", r.peer_us / 1000),
                   fmt::format("{:.2f}", r.peer_us / r.ours_us), fmt::format("{:.0e}", r.error)});
    return table_text(table);
}

ordered_json results_json(const std::vector<BenchResult>& results) {
    ordered_json list = ordered_json::array();
    for (const BenchResult& r : results)
        list.push_back({{"name", r.name},
                        {"update", r.update},
                        {"m", r.m},
                        {"n", r.n},
                        {"layers", r.layers},
                        {"batch", r.batch},
                        {"threads", r.threads},
                        {"density", r.density},
                        {"kernel", r.kernel},
                        {"ours_us", r.ours_us},
                        {"peer", r.peer},
                        {"peer_us", r.peer_us},
                        {"ratio", r.peer_us / r.ours_us},
                        {"error", r.error}});
    return {{"machine", machine_text()}, {"blas", blas_text()}, {"results", std::move(list)}};
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

Duel take_turns(double seconds, const std::function<void()>& ours,
                const std::function<void()>& peer) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t least_turns = 3;
    const auto microseconds = [](const std::function<void()>& work) {
        const auto start = Clock::now();
        work();
        return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    };
    ours();
    peer();
    std::vector<double> ours_us, peer_us;
    const auto start = Clock::now();
    while (ours_us.size() < least_turns ||
           std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
        ours_us.push_back(microseconds(ours));
        peer_us.push_back(microseconds(peer));
    }
    return {median(ours_us), median(peer_us)};
}

void run_bench(const Arguments& arguments) {
    CommandLine line("bench",
                     "Measures training against the same step on OpenBLAS, taking turns in one "
                     "run, on one thread and on --threads.",
                     "pibinn bench train --json bench.json");
    std::string what;
    BenchOptions options;
    line.required("WHAT", what, "train", "NAME");
    line.optional("--seconds", options.seconds, "for each measurement (1)", "S");
    line.optional("--cases", options.cases, "write the arrays of every case here, for other peers",
                  "DIR");
    if (!line.parse(arguments)) return;
    if (what != "train") fail_usage(fmt::format("unknown bench '{}'", what), "choose train");
    if (!(options.seconds >= 0 && options.seconds <= 3600))
        fail_usage(fmt::format("--seconds {} is not between 0 and 3600", options.seconds),
                   "give the seconds of one measurement");
    Console console(line.speech());

    const std::size_t most =
        line.threads() ? line.threads() : std::max(1U, std::thread::hardware_concurrency());
    options.threads = {1};
    if (most > 1) options.threads.push_back(most);
    const std::vector<BenchResult> results = bench_train(options, console);
    console.say(fmt::format("{}\n{}\n\n{}", machine_text(), blas_text(), results_table(results)));
    console.result(results_json(results));
}

}  // namespace pibinn::cli
