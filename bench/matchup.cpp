#include "bench/matchup.hpp"

#include "study/timing.hpp"

namespace pibinn::bench {

namespace {

std::optional<Tail> tail_of(const ContenderTimes& times, const Matchup::Unit& unit) {
    if (!unit.tails) return std::nullopt;
    return Tail{study::quantile(times.all, 0.99) / unit.signals,
                study::quantile(times.all, 1) / unit.signals};
}

}  // namespace

Matchup::Matchup(BenchResult ours, Turn turn) : ours_(std::move(ours)), turns_{std::move(turn)} {}

void Matchup::add_peer(std::string name, std::optional<double> error, Turn turn) {
    PeerTime peer;
    peer.name = std::move(name);
    peer.error = error;
    peers_.push_back(std::move(peer));
    turns_.push_back(std::move(turn));
}

std::vector<BenchResult> Matchup::run(double seconds, const Unit& unit) {
    const auto times = run_rounds(seconds, turns_);
    BenchResult ours = ours_;
    ours.ours_us = times[0].median() / unit.signals;
    ours.ours_tail = tail_of(times[0], unit);
    if (peers_.empty()) return {ours};
    std::vector<BenchResult> results;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        PeerTime peer = peers_[i];
        peer.us = times[i + 1].median() / unit.signals;
        peer.ratio = time_ratio(times[i + 1], times[0]);
        peer.tail = tail_of(times[i + 1], unit);
        results.push_back(ours);
        results.back().peer = std::move(peer);
    }
    return results;
}

}  // namespace pibinn::bench
