#include "train/dealt_problem.hpp"

#include <array>
#include <type_traits>
#include <vector>

#include "pibinn/error.hpp"
#include "pibinn/model.hpp"
#include "problem/row_shares.hpp"
#include "problem/units.hpp"
#include "train/augment.hpp"

namespace pibinn {

namespace {

/// What a problem consists of beside operator, domain and rows.
struct Facts {
    std::size_t train, m, n;
    bool given_measurements, own_signals, sparse, residual, has_snr;
    Invariance invariance;
    double noise_std, unexplained;
    SnrRange snr_db;
};
static_assert(std::is_trivially_copyable_v<Facts>);

Facts facts_of(const Problem& p) {
    return {p.train.x.rows(),
            p.op.rows(),
            p.op.cols(),
            p.given_measurements,
            p.own_signals,
            p.sparse,
            p.train_residual.rows() > 0,
            p.snr_db.has_value(),
            p.invariance,
            p.noise_std,
            p.unexplained,
            p.snr_db.value_or(SnrRange{})};
}

void apply(const Facts& facts, Problem& p) {
    p.given_measurements = facts.given_measurements;
    p.own_signals = facts.own_signals;
    p.sparse = facts.sparse;
    if (facts.has_snr) p.snr_db = facts.snr_db;
    p.invariance = facts.invariance;
    p.noise_std = facts.noise_std;
    p.unexplained = facts.unexplained;
}

template <class T>
void broadcast(T& value, Communicator& ranks) {
    ranks.broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
}

/// All rows of the first rank, everywhere.
void send_rows(const Batch& own, Batch& into, Communicator& ranks) {
    std::array<std::size_t, 2> shape{own.rows(), own.cols()};
    broadcast(shape, ranks);
    if (ranks.first()) {
        // What is sent from is only read.
        const std::span<const float> values = own.values();
        ranks.broadcast(
            std::as_writable_bytes(std::span(const_cast<float*>(values.data()), values.size())), 0);
        return;
    }
    into = Batch(shape[0], shape[1]);
    ranks.broadcast(std::as_writable_bytes(into.values()), 0);
}

/// Of the first rank's rows, to every rank those of its share.
void deal_rows(const Batch& own, std::size_t cols, const RowShares& shares, Batch& into,
               Communicator& ranks) {
    std::vector<std::span<const std::byte>> out(ranks.size());
    std::vector<std::span<std::byte>> in(ranks.size());
    for (std::size_t r = 1; r < ranks.size() && ranks.first(); ++r)
        out[r] = std::as_bytes(own.values().subspan(shares.begin(r) * cols, shares.size(r) * cols));
    if (!ranks.first()) {
        into = Batch(shares.size(ranks.rank()), cols);
        in[0] = std::as_writable_bytes(into.values());
    }
    ranks.exchange(out, in);
}

/// What training divides by, found once.
std::shared_ptr<const Problem> remember_units(Problem& problem) {
    NormalisedProblem own = normalised(problem);
    if (own.problem.get() == &problem) return own.problem;
    if (own.of.empty()) own.of = data_fingerprint(problem);
    problem.normalised = std::make_shared<const NormalisedProblem>(own);
    return own.problem;
}

}  // namespace

Problem deal_problem(Problem own, Communicator& ranks) {
    ensure(!own.prior, "a problem whose signals nobody can draw");
    std::shared_ptr<const Problem> whole = std::make_shared<const Problem>();
    if (ranks.first()) whole = remember_units(own);
    Problem part;
    // A model file has both, and keeps every bit of them.
    std::string bytes;
    if (ranks.first()) {
        NetworkSpec spec;
        spec.weights = WeightKind::tied;
        spec.layers = 1;
        Model model = untrained_model(spec, whole->op, 0);
        model.domain = whole->domain;
        bytes = model.to_bytes();
    }
    bytes = ranks.broadcast_text(bytes);
    if (!ranks.first()) {
        Model model = Model::from_bytes(bytes, "the problem of the first rank");
        part.op = std::move(model.op);
        part.domain = std::move(model.domain);
    }
    Facts facts{};
    if (ranks.first()) facts = facts_of(*whole);
    broadcast(facts, ranks);
    apply(facts, part);
    part.train_rows = facts.train;
    const std::size_t repeat =
        ranks.first() ? whole->op.structure().repeat() : part.op.structure().repeat();
    const RowShares shares(facts.train, repeat, ranks.size());
    part.train_begin = shares.begin(ranks.rank());
    deal_rows(whole->train.x, facts.n, shares, part.train.x, ranks);
    deal_rows(whole->train.y, facts.m, shares, part.train.y, ranks);
    if (facts.residual)
        deal_rows(whole->train_residual, facts.m, shares, part.train_residual, ranks);
    send_rows(whole->test.x, part.test.x, ranks);
    send_rows(whole->test.y, part.test.y, ranks);
    for (Disturbance Problem::*disturbance :
         {&Problem::train_disturbance, &Problem::test_disturbance}) {
        const Disturbance& from = (*whole).*disturbance;
        Disturbance& to = part.*disturbance;
        std::array<double, 3> numbers{from.noise_std, from.least_snr_db, from.most_snr_db};
        broadcast(numbers, ranks);
        to.noise_std = numbers[0];
        to.least_snr_db = numbers[1];
        to.most_snr_db = numbers[2];
        send_rows(from.artefacts, to.artefacts, ranks);
    }
    if (ranks.first()) return own;
    part.signal_size = part.column_norm = 1;
    return part;
}

}  // namespace pibinn
