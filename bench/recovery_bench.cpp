#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "bench/benches.hpp"
#include "bench/matchup.hpp"
#include "bench/recovery_peers.hpp"
#include "bench/solver_peers.hpp"
#include "infer/device_recovery.hpp"

namespace pibinn::bench {

namespace {

constexpr double kSignalDensity = 0.05;  // of the signals for a model file
// Signals that single calls go round: enough that no branch is learned by heart.
constexpr std::size_t kLatencyRows = 64;
constexpr std::size_t kCheckedRows = 16;  // one at a time, a large network takes a peer seconds
constexpr const char* kFloatNetwork = "ours, floating point";

/// Rows of a batch: thousands of small signals, and enough large ones for some threads.
std::size_t batch_of(std::size_t m, std::size_t n, std::size_t layers) {
    const std::size_t rows = 3'000'000'000 / (m * n * layers);
    return std::clamp<std::size_t>(rows / 64 * 64, 128, 2048);
}

/// A case, and for a random network another of ours that it is compared with: the accelerated
/// update beside the plain one, and a learned shrink beside soft thresholds.
struct CasePair {
    RecoveryCase base;
    std::optional<RecoveryCase> accelerated;
    std::optional<RecoveryCase> soft;
};

/// A convolution of n entries, in full.
Structure convolution(std::size_t m, std::size_t n) {
    std::vector<std::uint32_t> offsets{0}, rows;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = j; i <= j + m - n; ++i) rows.push_back(static_cast<std::uint32_t>(i));
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    return Structure::mask(m, n, std::move(offsets), std::move(rows));
}

/// Calls visit for the model file, or for every shape.
template <class Visit>
void for_each_case(const BenchOptions& options, Visit&& visit) {
    ThreadPool all(0);
    if (!options.model.empty()) {
        Model model = Model::load(options.model);
        const std::size_t rows = batch_of(model.op.rows(), model.op.cols(), model.spec.layers);
        visit(CasePair{
            model_case(std::move(model), options.density.value_or(kSignalDensity), rows, all),
            std::nullopt, std::nullopt});
        return;
    }
    for (const NetworkShape& shape : options.shapes) {
        RandomSpec spec{Structure::dense(shape.m, shape.n), shape.layers};
        const auto make = [&] {
            return random_case(spec, options.density.value_or(kDensity),
                               batch_of(shape.m, shape.n, shape.layers), all);
        };
        CasePair pair;
        if (options.network == NetworkChoice::convolution) {
            spec.structure = convolution(shape.m, shape.n);
            pair.base = make();
            visit(pair);
            continue;
        }
        if (options.network != NetworkChoice::one_bit) spec.ensemble = OperatorEnsemble::rademacher;
        if (options.network == NetworkChoice::tied) {
            spec.weights = WeightKind::tied;
            spec.update = Update::accelerated();
            pair.soft = make();
            spec.activation = Activation::piecewise;
            pair.base = make();
        } else {
            pair.base = make();
            spec.update = Update::accelerated();
            pair.accelerated = make();
        }
        visit(pair);
    }
}

std::size_t count_cases(const BenchOptions& options) {
    return options.kernels.size() * (options.model.empty() ? options.shapes.size() : 1);
}

BenchResult describe(const char* name, const RecoveryCase& c, const std::string& kernel,
                     std::size_t batch, std::size_t threads) {
    BenchResult result;
    result.name = name;
    result.model = c.origin;
    result.structure = to_string(c.model.op.structure().kind());
    result.update = to_string(c.model.spec.update);
    result.weights = to_string(c.model.spec.weights);
    result.m = c.model.op.rows();
    result.n = c.model.op.cols();
    result.layers = c.model.spec.layers;
    result.batch = batch;
    result.threads = threads;
    result.density = c.density;
    result.kernel = kernel;
    return result;
}
BenchResult describe(const char* name, const RecoveryCase& c, const OurRecovery& ours,
                     std::size_t batch, std::size_t threads) {
    return describe(name, c, ours.kernel(), batch, threads);
}

void append(std::vector<BenchResult>& results, std::vector<BenchResult> more) {
    std::ranges::move(more, std::back_inserter(results));
}

void keep_case(const BenchOptions& options, const RecoveryCase& c, const Batch& ours) {
    if (!options.cases.empty())
        write_case(std::filesystem::path(options.cases) / case_name(c), c, ours);
}

/// Single calls that go round the first rows.
Turn single_turn(std::function<void(std::size_t)> call, std::size_t rows) {
    return single_calls([call = std::move(call), rows](std::size_t i) { call(i % rows); });
}

std::vector<BenchResult> latency_of(const CasePair& pair, const std::string& kernel,
                                    const BenchOptions& options) {
    const RecoveryCase& c = pair.base;
    const Matchup::Unit unit{1, true};
    ThreadPool one(1);
    const OurRecovery ours(c.model, kernel);
    const Batch recovered = ours.recover(c.y, one);
    keep_case(options, c, recovered);
    const auto checked = recovered.view().row_range(0, std::min(kCheckedRows, recovered.rows()));
    const std::size_t rows = std::min(kLatencyRows, c.y.rows());
    const Turn turn = single_turn(ours.single_call(c.y), rows);

    RecoveryPeers peers(c, 1, 1, checked);
    Batch x(1, recovered.cols());
    Matchup others(describe("latency", c, ours, 1, 1), turn);
    for (RecoveryPeers::Entry& entry : peers.entries())
        others.add_peer(
            entry.name, entry.error,
            single_turn(
                [&](std::size_t i) { entry.peer->recover(c.y.view().row_range(i, i + 1), x, 0); },
                rows));
    std::optional<FloatRecovery> floats;
    if (peers.entries().empty() && ours.packed()) {
        floats.emplace(c.model);
        const Batch same = floats->recover(c.y.view().row_range(0, checked.rows), one);
        others.add_peer(kFloatNetwork,
                        relative_difference({checked.data, same.size()}, same.values()),
                        single_turn(floats->single_call(c.y), rows));
    }
    std::vector<BenchResult> results = others.run(options.seconds, unit);
    if (pair.accelerated) {
        const OurRecovery fast(pair.accelerated->model, kernel);
        Matchup updates(describe("latency", *pair.accelerated, fast, 1, 1),
                        single_turn(fast.single_call(pair.accelerated->y), rows));
        updates.add_peer("ours, plain", std::nullopt, turn);
        append(results, updates.run(options.seconds, unit));
    }
    if (pair.soft) {
        const OurRecovery soft(pair.soft->model, kernel);
        Matchup shrinks(describe("latency", c, ours, 1, 1), turn);
        shrinks.add_peer("ours, soft", std::nullopt,
                         single_turn(soft.single_call(pair.soft->y), rows));
        append(results, shrinks.run(options.seconds, unit));
    }
    return results;
}

/// A peer's turn on a batch: blocks large enough for its products, and some for every thread, so
/// that its threads take over from each other as ours do.
Turn peer_batch(RecoveryPeer& peer, const Batch& y, Batch& x, ThreadPool& pool) {
    const std::size_t threads = pool.threads();
    const std::size_t block =
        threads == 1 ? y.rows() : std::max<std::size_t>(64, y.rows() / (4 * threads));
    const auto work = [&, block] {
        pool.run_chunks(y.rows(), block, [&](std::size_t, std::size_t from, std::size_t to) {
            peer.recover(y.view().row_range(from, to), x.view().row_range(from, to),
                         ThreadPool::worker());
        });
    };
    return threads == 1 ? processor_runs(work) : wall_runs(work);
}

std::vector<BenchResult> throughput_of(const CasePair& pair, const std::string& kernel,
                                       std::size_t threads, const BenchOptions& options) {
    const RecoveryCase& c = pair.base;
    const Matchup::Unit unit{static_cast<double>(c.y.rows()), false};
    Cores cores;
    ThreadPool pool(threads);
    if (threads > 1) cores.spread(pool);
    ThreadPool one(1);
    const OurRecovery ours(c.model, kernel);
    const Batch recovered = ours.recover(c.y, pool);
    keep_case(options, c, recovered);
    Batch x(recovered.rows(), recovered.cols());
    const auto timed = threads == 1 ? processor_runs : wall_runs;
    const Turn turn = timed([&] { ours.recover_into(c.y, x, pool); });
    const BenchResult described = describe("throughput", c, ours, c.y.rows(), threads);

    RecoveryPeers peers(c, c.y.rows(), threads, recovered);
    Matchup others(described, turn);
    for (RecoveryPeers::Entry& entry : peers.entries())
        others.add_peer(entry.name, entry.error, peer_batch(*entry.peer, c.y, x, pool));
    std::optional<FloatRecovery> floats;
    if (peers.entries().empty() && ours.packed()) {
        floats.emplace(c.model);
        others.add_peer(
            kFloatNetwork,
            relative_difference(recovered.values(), floats->recover(c.y, pool).values()),
            timed([&] { floats->recover(c.y, pool); }));
    }
    std::vector<BenchResult> results = others.run(options.seconds, unit);
    if (threads > 1) {
        Matchup alone(described, turn);
        alone.add_peer("ours, 1 thread",
                       relative_difference(recovered.values(), ours.recover(c.y, one).values()),
                       runs_on_each_core([&] { ours.recover_into(c.y, x, one); }, cores, threads));
        append(results, alone.run(options.seconds, unit));
    }
    if (pair.accelerated) {
        const RecoveryCase& other = *pair.accelerated;
        const OurRecovery fast(other.model, kernel);
        Matchup updates(describe("throughput", other, fast, c.y.rows(), threads),
                        timed([&] { fast.recover_into(other.y, x, pool); }));
        updates.add_peer("ours, plain", std::nullopt, turn);
        append(results, updates.run(options.seconds, unit));
    }
    if (pair.soft) {
        const OurRecovery soft(pair.soft->model, kernel);
        Matchup shrinks(described, turn);
        shrinks.add_peer("ours, soft", std::nullopt,
                         timed([&] { soft.recover_into(pair.soft->y, x, pool); }));
        append(results, shrinks.run(options.seconds, unit));
    }
    if (c.origin == "trained" && threads == 1 &&
        c.model.spec.architecture == Architecture::unrolled)
        append(results, bench_solvers(c, ours, described, options.seconds));
    return results;
}

/// Batches that lie in a device's memory, beside our floating-point network on one thread here.
std::vector<BenchResult> device_of(const RecoveryCase& c, const BenchOptions& options) {
    constexpr std::size_t numbers = 150'000'000;  // far more than its caches hold
    constexpr std::size_t turns = 9;
    ThreadPool one(1);
    FloatRecovery floats(c.model);
    const Batch expected = floats.recover(c.y, one);
    keep_case(options, c, expected);
    const Turn turn = processor_runs([&] { floats.recover(c.y, one); });
    std::vector<double> times;
    for (int i = 0; i < 3; ++i) turn(times);
    const double floats_us = *std::ranges::min_element(times) / static_cast<double>(c.y.rows());
    std::vector<BenchResult> results;
    for (const char* kernel : {"cuda", "cuda-half"}) {
        const DeviceModel device(c.model, kernel);
        const std::size_t rows = numbers / (c.model.op.rows() + c.model.op.cols());
        BenchResult result = describe("device", c, device.kernel(), rows, 1);
        result.ours_us =
            1e6 * device.seconds_on_device(c.y, rows, turns) / static_cast<double>(rows);
        const double ratio = floats_us / result.ours_us;
        result.peer = PeerTime{.name = kFloatNetwork,
                               .us = floats_us,
                               .ratio = {ratio, ratio, ratio},
                               .error = relative_difference(
                                   expected.values(), device.recover_coefficients(c.y).values()),
                               .tail = {},
                               .nmse_db = {}};
        results.push_back(std::move(result));
    }
    return results;
}

}  // namespace

std::vector<BenchResult> bench_device(const BenchOptions& options, const ProgressSink& progress) {
    std::vector<BenchResult> results;
    std::size_t done = 0;
    for_each_case(options, [&](const CasePair& pair) {
        append(results, device_of(pair.accelerated ? *pair.accelerated : pair.base, options));
        progress({"bench device", ++done, count_cases(options), ""});
    });
    return results;
}

std::vector<BenchResult> bench_latency(const BenchOptions& options, const ProgressSink& progress) {
    std::vector<BenchResult> results;
    std::size_t done = 0;
    for_each_case(options, [&](const CasePair& pair) {
        for (const std::string& kernel : options.kernels) {
            append(results, latency_of(pair, kernel, options));
            progress({"bench latency", ++done, count_cases(options), ""});
        }
    });
    return results;
}

std::vector<BenchResult> bench_throughput(const BenchOptions& options,
                                          const ProgressSink& progress) {
    std::vector<BenchResult> results;
    const std::size_t count = count_cases(options) * options.threads.size();
    std::size_t done = 0;
    for_each_case(options, [&](const CasePair& pair) {
        for (const std::string& kernel : options.kernels)
            for (const std::size_t threads : options.threads) {
                append(results, throughput_of(pair, kernel, threads, options));
                progress({"bench throughput", ++done, count, ""});
            }
    });
    return results;
}

}  // namespace pibinn::bench
