#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/bench.hpp"
#include "cli/bench_peers.hpp"
#include "cli/bench_turns.hpp"

namespace pibinn::cli {

namespace {

constexpr double kDensity = 0.10;        // of x in random models
constexpr double kSignalDensity = 0.05;  // of the signals for a trained one
// Signals that single calls go round: enough that no branch is learned by heart.
constexpr std::size_t kLatencyRows = 64;
constexpr std::size_t kCheckedRows = 16;  // one at a time, a large network takes a peer seconds

/// Rows of a batch: thousands of small signals, and enough of large ones for some threads.
std::size_t batch_of(std::size_t m, std::size_t n, std::size_t layers) {
    const std::size_t rows = 3'000'000'000 / (m * n * layers);
    return std::clamp<std::size_t>(rows / 64 * 64, 128, 2048);
}

/// A case, and for a random plain one its accelerated twin.
struct Pair {
    RecoverCase base;
    std::optional<RecoverCase> accelerated;
};

/// Calls visit for the model file, or for every shape.
template <class Visit>
void for_each_case(const BenchOptions& options, Visit&& visit) {
    ThreadPool all(0);
    if (!options.model.empty()) {
        Model model = Model::load(options.model);
        const std::size_t rows = batch_of(model.op.rows(), model.op.cols(), model.spec.layers);
        Pair pair{trained_case(std::move(model), options.model,
                               options.density.value_or(kSignalDensity), rows, all),
                  std::nullopt};
        visit(pair);
        return;
    }
    for (const BenchShape& shape : options.shapes) {
        const auto make = [&](const Update& update) {
            return random_case(Structure::dense(shape.m, shape.n), shape.layers, update,
                               options.density.value_or(kDensity),
                               batch_of(shape.m, shape.n, shape.layers), all);
        };
        Pair pair{make(Update::plain()), make(Update::accelerated())};
        visit(pair);
    }
}

BenchResult result_of(const char* name, const RecoverCase& c, const PackedModel& packed,
                      std::size_t batch, std::size_t threads) {
    BenchResult result;
    result.name = name;
    result.model = c.origin;
    result.update = to_string(c.model.spec.update);
    result.weights = to_string(c.model.spec.weights);
    result.m = c.model.op.rows();
    result.n = c.model.op.cols();
    result.layers = c.model.spec.layers;
    result.batch = batch;
    result.threads = threads;
    result.density = c.density;
    result.kernel = packed.kernel();
    return result;
}

/// Ours against all that take turns with it. What is ours in another way has a field of its own:
/// the two meet close after each other, and many times in the seconds that large peers need for a
/// few turns.
struct Field {
    BenchResult ours;
    std::vector<Turn> turns;
    std::vector<BenchResult> rows;  ///< one for each turn after the first

    Field(BenchResult ours_, Turn turn) : ours(std::move(ours_)), turns{std::move(turn)} {}

    void add(BenchResult row, std::string peer, std::optional<double> error, Turn turn) {
        row.peer = std::move(peer);
        row.error = error;
        rows.push_back(std::move(row));
        turns.push_back(std::move(turn));
    }

    /// Times divided by `signals`; tails where calls are single.
    std::vector<BenchResult> run(double seconds, double signals, bool tails) {
        const auto times = take_turns(seconds, turns);
        const auto tail = [&](std::size_t i) {
            return Tail{quantile(times[i].all, 0.99), quantile(times[i].all, 1)};
        };
        for (std::size_t i = 1; i < turns.size(); ++i) {
            BenchResult& row = rows[i - 1];
            // The accelerated update is ours too, and is measured against the plain one.
            const bool twin = row.update != ours.update;
            const std::size_t mine = twin ? i : 0;
            const std::size_t other = twin ? 0 : i;
            row.ours_us = times[mine].median() / signals;
            row.peer_us = times[other].median() / signals;
            row.ratio = ratio(times[other], times[mine]);
            if (!tails) continue;
            row.ours_tail = tail(mine);
            row.peer_tail = tail(other);
        }
        return rows;
    }
};

void append(std::vector<BenchResult>& results, std::vector<BenchResult> more) {
    std::ranges::move(more, std::back_inserter(results));
}

void keep_case(const BenchOptions& options, const RecoverCase& c, const Batch& ours) {
    if (options.cases.empty()) return;
    write_case(std::filesystem::path(options.cases) /
                   fmt::format("recover-{}-{}x{}x{}", c.origin, c.model.op.rows(),
                               c.model.op.cols(), c.model.spec.layers),
               c, ours);
}

std::vector<BenchResult> latency_of(Pair& pair, const std::string& kernel, double seconds,
                                    const BenchOptions& options) {
    const RecoverCase& c = pair.base;
    ThreadPool pool(1);
    const PackedModel packed(c.model, kernel);
    const Batch ours = packed.recover(c.y, pool);
    keep_case(options, c, ours);
    Peers peers(c, 1, 1, ours.view().row_range(0, std::min(kCheckedRows, ours.rows())));
    const std::size_t rows = std::min(kLatencyRows, c.y.rows());
    Batch x(1, ours.cols());
    const auto single = [&](const RecoverCase& source, const PackedModel& model) {
        return single_calls(
            [&, rows, space = std::make_shared<PackedModel::Workspace>(model)](std::size_t i) {
                model.recover(source.y.row(i % rows), x.values(), *space);
            });
    };
    Field others(result_of("latency", c, packed, 1, 1), single(c, packed));
    for (Peers::Entry& entry : peers.entries())
        others.add(others.ours, entry.name, entry.error, single_calls([&](std::size_t i) {
                       entry.peer->recover(c.y.view().row_range(i % rows, i % rows + 1), x, 0);
                   }));
    std::vector<BenchResult> results = others.run(seconds, 1, true);
    if (pair.accelerated) {
        const PackedModel fast(pair.accelerated->model, kernel);
        Field twins(others.ours, single(c, packed));
        twins.add(result_of("latency", *pair.accelerated, fast, 1, 1), "ours, plain", std::nullopt,
                  single(*pair.accelerated, fast));
        append(results, twins.run(seconds, 1, true));
    }
    return results;
}

std::vector<BenchResult> throughput_of(Pair& pair, const std::string& kernel, std::size_t threads,
                                       const BenchOptions& options) {
    const RecoverCase& c = pair.base;
    Cores cores;
    ThreadPool pool(threads);
    if (threads > 1) cores.spread(pool);
    ThreadPool one(1);
    const PackedModel packed(c.model, kernel);
    const Batch ours = packed.recover(c.y, pool);
    keep_case(options, c, ours);
    Peers peers(c, c.y.rows(), threads, ours);
    Batch x(ours.rows(), ours.cols());
    const auto timed = threads == 1 ? processor_runs : wall_runs;
    // Large enough for a peer's products, and some for every thread, so that the peer's threads
    // take over from each other as ours do.
    const std::size_t block =
        threads == 1 ? c.y.rows() : std::max<std::size_t>(64, c.y.rows() / (4 * threads));
    const Turn all = timed([&] { packed.recover(c.y, x, pool); });
    Field others(result_of("throughput", c, packed, c.y.rows(), threads), all);
    for (Peers::Entry& entry : peers.entries())
        others.add(others.ours, entry.name, entry.error, timed([&] {
                       pool.run_chunks(c.y.rows(), block,
                                       [&](std::size_t, std::size_t from, std::size_t to) {
                                           entry.peer->recover(c.y.view().row_range(from, to),
                                                               x.view().row_range(from, to),
                                                               ThreadPool::worker());
                                       });
                   }));
    const auto signals = static_cast<double>(c.y.rows());
    std::vector<BenchResult> results = others.run(options.seconds, signals, false);
    if (threads > 1) {
        Field alone(others.ours, all);
        alone.add(others.ours, "ours, 1 thread",
                  relative_difference(ours.values(), packed.recover(c.y, one).values()),
                  runs_on_each_core([&] { packed.recover(c.y, x, one); }, cores, threads));
        append(results, alone.run(options.seconds, signals, false));
    }
    if (pair.accelerated) {
        const PackedModel fast(pair.accelerated->model, kernel);
        Field twins(others.ours, all);
        twins.add(result_of("throughput", *pair.accelerated, fast, c.y.rows(), threads),
                  "ours, plain", std::nullopt,
                  timed([&] { fast.recover(pair.accelerated->y, x, pool); }));
        append(results, twins.run(options.seconds, signals, false));
    }
    if (c.origin == "trained" && threads == 1)
        append(results, bench_solvers(c, packed, others.ours, options.seconds));
    return results;
}

}  // namespace

std::vector<BenchResult> bench_latency(const BenchOptions& options, Console& console) {
    std::vector<BenchResult> results;
    const std::size_t count =
        options.kernels.size() * (options.model.empty() ? options.shapes.size() : 1);
    std::size_t done = 0;
    for_each_case(options, [&](Pair& pair) {
        for (const std::string& kernel : options.kernels) {
            append(results, latency_of(pair, kernel, options.seconds, options));
            console.progress({"bench latency", ++done, count, ""});
        }
    });
    console.clear_progress();
    return results;
}

std::vector<BenchResult> bench_throughput(const BenchOptions& options, Console& console) {
    std::vector<BenchResult> results;
    const std::size_t count = options.kernels.size() * options.threads.size() *
                              (options.model.empty() ? options.shapes.size() : 1);
    std::size_t done = 0;
    for_each_case(options, [&](Pair& pair) {
        for (const std::string& kernel : options.kernels)
            for (const std::size_t threads : options.threads) {
                append(results, throughput_of(pair, kernel, threads, options));
                console.progress({"bench throughput", ++done, count, ""});
            }
    });
    console.clear_progress();
    return results;
}

}  // namespace pibinn::cli
