#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/recovery_time.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::study {

/// The value at rank floor(share (count - 1)) of the sorted values; share 0 is the least, 1 the
/// greatest. A usage error for no values or a share outside [0, 1].
double quantile(std::vector<double> values, double share);
/// The middle value; of an even count the lower of the two in the middle.
double median(const std::vector<double>& values);

/// How long a measurement may take.
struct TimingBudget {
    double seconds = 0.2;           ///< of the counted calls together; 0 for `least_calls` alone
    double warm_up_seconds = 2e-3;  ///< of calls that do not count: caches, clock of the processor
    std::size_t least_calls = 3;    ///< counted, also where they take longer than `seconds`
};

/// What repeated calls took by the wall clock, in microseconds of one call.
struct Timing {
    double median_us = 0;
    double least_us = 0;
    double most_us = 0;
    std::size_t calls = 0;
};

/// Times every call by itself; call(i) gets 0, 1, 2 and so on, warm-up included. A first call that
/// takes longer than the whole budget counts, and is the only one.
Timing time_calls(const std::function<void(std::size_t)>& call, const TimingBudget& budget = {});

/// Anything that recovers a batch: a model, or a solver in its place.
using RecoverFunction = std::function<void(ConstBatchView y, ThreadPool& pool)>;

/// Medians of repeated calls. Latency goes round the first 64 rows of `y`; the batch is all of them
/// over `pool`. Both times contain the allocation of the result where `recover` allocates it.
RecoveryTime time_recovery(const RecoverFunction& recover, ConstBatchView y, ThreadPool& pool,
                           const TimingBudget& budget = {});
RecoveryTime time_recovery(const Recoverer& recoverer, ConstBatchView y, ThreadPool& pool,
                           const TimingBudget& budget = {});

/// {"latency_us":..,"batch_us":..,"batch":..,"threads":..}
nlohmann::ordered_json timing_json(const RecoveryTime& time);

}  // namespace pibinn::study
