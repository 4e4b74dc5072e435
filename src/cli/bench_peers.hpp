#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/bench_case.hpp"

namespace pibinn::cli {

/// The peers within this program, on one case.
class Peers {
public:
    struct Entry {
        std::string name;
        std::unique_ptr<bench::RecoveryPeer> peer;
        double error = 0;  ///< against ours
    };

    /// Layouts are tried on the first `rows` rows: the batches to come. `ours` is what we recover
    /// from the first rows, for the error.
    Peers(const RecoverCase& recover_case, std::size_t rows, std::size_t threads,
          ConstBatchView ours);

    std::vector<Entry>& entries() { return entries_; }

private:
    bench::RecoveryNetwork network_;
    std::vector<Entry> entries_;
};

/// FISTA and OMP on the signals of a case, each with the least work that reaches our nmse, or with
/// the most that we grant them. On one thread.
std::vector<BenchResult> bench_solvers(const RecoverCase& recover_case, const PackedModel& packed,
                                       const BenchResult& ours, double seconds);

}  // namespace pibinn::cli
