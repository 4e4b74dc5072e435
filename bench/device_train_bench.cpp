#include <chrono>

#include "bench/benches.hpp"
#include "bench/train_case.hpp"
#include "pibinn/synthetic_problem.hpp"

namespace pibinn::bench {

namespace {

constexpr std::size_t kBatch = 256;
// What comes once per epoch counts as in trainings of a few thousand signals.
constexpr std::size_t kStepsPerEpoch = 8;
constexpr std::size_t kEpochs = 4;

double seconds_per_step(const Problem& problem, const NetworkSpec& spec, std::string_view device,
                        ThreadPool& pool) {
    const auto backend = make_backend(device);
    Trainer trainer(problem, spec, EpochWork::recipe(kBatch), EpochWork::seed, *backend, pool);
    trainer.run_epoch();
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t epoch = 0; epoch < kEpochs; ++epoch) trainer.run_epoch();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return taken.count() / static_cast<double>(kEpochs * kStepsPerEpoch);
}

}  // namespace

std::vector<BenchResult> bench_device_train(const BenchOptions& options,
                                            const ProgressSink& progress) {
    ThreadPool pool(0);
    std::vector<BenchResult> results;
    for (const NetworkShape& shape : options.shapes) {
        SyntheticSpec synthetic;
        synthetic.m = shape.m;
        synthetic.n = shape.n;
        synthetic.train = kBatch * kStepsPerEpoch;
        synthetic.test = 1;
        const Problem problem = make_synthetic(synthetic, EpochWork::seed, pool);
        NetworkSpec spec;
        spec.layers = shape.layers;
        spec.update = Update::plain();
        for (const char* device : {"cuda-tf32", "cuda"}) {
            BenchResult result;
            result.name = "device-train";
            result.update = to_string(spec.update);
            result.m = shape.m;
            result.n = shape.n;
            result.layers = shape.layers;
            result.batch = kBatch;
            result.threads = pool.threads();
            result.kernel = device;
            result.ours_us = 1e6 * seconds_per_step(problem, spec, device, pool);
            results.push_back(std::move(result));
            progress({"bench device-train", results.size(), 2 * options.shapes.size(), ""});
        }
    }
    return results;
}

}  // namespace pibinn::bench
