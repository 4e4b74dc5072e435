#include "pibinn/beamspace_problem.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "problem/draw_sets.hpp"

namespace pibinn {

Problem make_beamspace(const BeamspaceSpec& spec, std::uint64_t seed, ThreadPool& pool) {
    const std::size_t q = spec.measurements, n = spec.prior.antennas;
    if (spec.users == 0) fail_usage("channels of 0 users", "give at least one user");
    if (q == 0 || q > n)
        fail_usage(fmt::format("{} measurements of {} antennas", q, n),
                   "give at least one, and at most as many as antennas");
    Problem problem;
    problem.op = Operator::random(Structure::repeated(q, n, 2), spec.ensemble, seed);
    problem.domain.complex = true;
    problem.prior = spec.prior;
    problem.snr_db = spec.snr_db;
    problem.snr_db->power = 0.5 / static_cast<double>(q);
    draw_sets(problem, spec.users * spec.train, spec.users * spec.test, seed, pool);
    return problem;
}

}  // namespace pibinn
