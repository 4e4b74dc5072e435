#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/recovery_case.hpp"

namespace pibinn::bench {

/// The peers within this process, on one case: OpenBLAS, Eigen, and floats in a loop like ours.
/// None where they cannot run the network.
class RecoveryPeers {
public:
    struct Entry {
        std::string name;
        std::unique_ptr<RecoveryPeer> peer;
        double error = 0;  ///< against ours
    };

    /// Layouts are tried on the first `rows` rows, the size of the batches to come. `ours` is what
    /// we recover from the first rows of the case.
    RecoveryPeers(const RecoveryCase& recovery_case, std::size_t rows, std::size_t threads,
                  ConstBatchView ours);

    std::vector<Entry>& entries() { return entries_; }

private:
    RecoveryNetwork network_;
    std::vector<Entry> entries_;
};

}  // namespace pibinn::bench
