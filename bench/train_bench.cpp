#include <algorithm>
#include <array>

#include "bench/benches.hpp"
#include "bench/matchup.hpp"
#include "bench/recovery_case.hpp"
#include "bench/train_case.hpp"
#include "pibinn/packed_model.hpp"
#include "pibinn/random.hpp"
#include "pibinn/synthetic_problem.hpp"

namespace pibinn::bench {

namespace {

constexpr std::array kDensities{0.05, 0.10, 0.15, 0.25, 0.40, 0.60};
constexpr std::array<std::size_t, 2> kBatches{250, 4000};

/// An epoch of the peer. It shuffles and copies rows as ours does: not at all in a full batch.
class PeerEpoch {
public:
    PeerEpoch(const Problem& problem, const PlainNetwork& network, std::size_t batch,
              ThreadPool& pool)
        : set_(problem.train), step_(network, pool), x_(batch, network.n), y_(batch, network.m) {}

    void run() {
        const auto rate = static_cast<float>(EpochWork::rate);
        const std::size_t batch = x_.rows();
        if (batch == set_.x.rows()) {
            step_.gradient(set_.y, set_.x);
            step_.adam(rate);
            return;
        }
        const auto order =
            Stream(EpochWork::seed, Purpose::shuffle, epoch_++).permutation(set_.x.rows());
        for (std::size_t at = 0; at + batch <= order.size(); at += batch) {
            for (std::size_t i = 0; i < batch; ++i) {
                const auto x = set_.x.row(order[at + i]);
                const auto y = set_.y.row(order[at + i]);
                std::copy(x.begin(), x.end(), x_.row(i).begin());
                std::copy(y.begin(), y.end(), y_.row(i).begin());
            }
            step_.gradient(y_, x_);
            step_.adam(rate);
        }
    }

private:
    const DataSet& set_;
    OpenBlasStep step_;
    Batch x_, y_;
    std::size_t epoch_ = 0;
};

/// How far the peer's gradient is from ours, in the worst layer.
double gradient_difference(const Problem& problem, TrainCase& ours, ThreadPool& pool) {
    const ParameterStore gradient = ours.gradient(pool);
    OpenBlasStep step(ours.plain_network(), pool);
    step.gradient(problem.train.y, problem.train.x);
    double worst = relative_difference(gradient.theta(), step.theta_gradient());
    const std::size_t links = gradient.weights(1).size();
    for (std::size_t k = 1; k <= ours.spec().layers; ++k)
        worst = std::max(
            worst, relative_difference(gradient.weights(k),
                                       step.weight_gradient().subspan((k - 1) * links, links)));
    return worst;
}

BenchResult describe(const Problem& problem, const TrainCase& c, std::size_t batch,
                     std::size_t threads) {
    BenchResult result;
    result.name = "train";
    result.update = to_string(c.spec().update);
    result.m = problem.op.rows();
    result.n = problem.op.cols();
    result.layers = c.spec().layers;
    result.batch = batch;
    result.threads = threads;
    result.density = c.density();
    result.kernel = packed_kernels().front();
    return result;
}

}  // namespace

std::vector<BenchResult> bench_train(const BenchOptions& options, const ProgressSink& progress) {
    ThreadPool all(0);
    SyntheticSpec synthetic;
    synthetic.test = 1;  // an epoch measures the test set now and then, which is not the step
    const Problem problem = make_synthetic(synthetic, EpochWork::seed, all);
    const std::size_t count = kDensities.size() * kBatches.size() * options.threads.size();
    std::vector<BenchResult> results;
    for (const double density : kDensities) {
        TrainCase plain(problem, Update::plain(), density, all);
        TrainCase accelerated(problem, Update::accelerated(), density, all);
        const double error = gradient_difference(problem, plain, all);
        if (!options.cases.empty()) plain.write(options.cases, density, all);
        for (const std::size_t batch : kBatches)
            for (const std::size_t threads : options.threads) {
                ThreadPool pool(threads);
                const auto ours = plain.trainer(batch, pool);
                const auto fast = accelerated.trainer(batch, pool);
                PeerEpoch peer(problem, plain.plain_network(), batch, pool);
                const Turn turn = wall_runs([&] { ours->run_epoch(); });
                Matchup others(describe(problem, plain, batch, threads), turn);
                others.add_peer("openblas", error, wall_runs([&] { peer.run(); }));
                Matchup updates(describe(problem, accelerated, batch, threads),
                                wall_runs([&] { fast->run_epoch(); }));
                updates.add_peer("ours, plain", std::nullopt, turn);
                for (Matchup* matchup : {&others, &updates})
                    results.push_back(matchup->run(options.seconds, {}).front());
                progress({"bench train", results.size() / 2, count, ""});
            }
    }
    return results;
}

}  // namespace pibinn::bench
