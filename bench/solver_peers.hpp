#pragma once

#include <vector>

#include "bench/our_recovery.hpp"
#include "bench/recovery_case.hpp"
#include "bench/result.hpp"

namespace pibinn::bench {

/// FISTA and OMP on the signals of a case, on one thread: each with the least work that reaches our
/// nmse, or with the most that it is granted. `described` says which case it is.
std::vector<BenchResult> bench_solvers(const RecoveryCase& recovery_case, const OurRecovery& ours,
                                       const BenchResult& described, double seconds);

}  // namespace pibinn::bench
