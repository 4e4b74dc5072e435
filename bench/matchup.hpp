#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result.hpp"

namespace pibinn::bench {

/// Ours against all that take turns with it. Two ways of ours have a matchup of their own: they
/// then meet close after each other, and many times in the seconds that large peers need for a few
/// turns.
class Matchup {
public:
    /// How the times of a turn become those of a result.
    struct Unit {
        double signals = 1;  ///< that one run recovers
        bool tails = false;  ///< runs are single calls: their slow end is of interest
    };

    /// `ours` describes the case; its times are filled in by run().
    Matchup(BenchResult ours, Turn turn);
    void add_peer(std::string name, std::optional<double> error, Turn turn);

    /// One result per peer; without a peer, one of ours alone.
    std::vector<BenchResult> run(double seconds, const Unit& unit);

private:
    BenchResult ours_;
    std::vector<PeerTime> peers_;
    std::vector<Turn> turns_;  ///< ours first, then one per peer
};

}  // namespace pibinn::bench
