// The ten lines of C++ in the README, as they stand there, around what they leave out.
#include <algorithm>
#include <cstdio>

#include <pibinn/pibinn.hpp>

int main() {
    const auto A = pibinn::Operator::random(pibinn::Structure::dense(20, 40),
                                            pibinn::OperatorEnsemble::gaussian, 1)
                       .to_dense();
    pibinn::ThreadPool pool;
    const pibinn::Batch signals = pibinn::draw_signals(pibinn::SparsePrior{.density = 0.05}, 200,
                                                       40, 1, pibinn::Purpose::train_signals, pool);
    const pibinn::Batch y = pibinn::Operator(A).apply(signals, pool);
#include "readme.inc"
    // What C++ recovers is what the model file recovers anywhere, and better than nothing.
    const pibinn::Metrics metrics = pibinn::measure(signals, x);
    std::printf("nmse %.2f dB\n", metrics.nmse_db);
    return metrics.nmse_db < -6 ? 0 : 1;
}
