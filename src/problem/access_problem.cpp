#include "pibinn/access_problem.hpp"

#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "problem/draw_sets.hpp"

namespace pibinn {

namespace {

/// Each column in turn, the real sign of an entry before its imaginary one.
Operator draw_pilots(std::size_t pilots, std::size_t users, std::size_t antennas,
                     std::uint64_t seed) {
    Stream stream(seed, Purpose::operator_entries);
    const auto size = static_cast<float>(1 / std::sqrt(2 * static_cast<double>(pilots)));
    Matrix<float> re(pilots, users), im(pilots, users);
    for (std::size_t j = 0; j < users; ++j)
        for (std::size_t i = 0; i < pilots; ++i)
            for (Matrix<float>* part : {&re, &im})
                (*part)(i, j) = stream.bernoulli(0.5) ? size : -size;
    return Operator::from_complex(re, im, antennas);
}

}  // namespace

Problem make_access(const AccessSpec& spec, std::uint64_t seed, ThreadPool& pool) {
    const std::size_t users = spec.prior.users;
    if (spec.pilots == 0 || spec.pilots > users)
        fail_usage(fmt::format("{} pilot symbols for {} users", spec.pilots, users),
                   "give at least one, and at most as many as users: these could have orthogonal "
                   "pilots, which need no solver");
    if (spec.prior.antennas == 0) fail_usage("a base station of 0 antennas", "give at least one");
    Problem problem;
    problem.op = draw_pilots(spec.pilots, users, spec.prior.antennas, seed);
    problem.domain.complex = true;
    problem.domain.vectors = spec.prior.antennas;
    problem.prior = spec.prior;
    problem.snr_db = spec.snr_db;
    // The energy of a signal is spread over the numbers of its measurement: columns have norm 1.
    problem.snr_db->power = spec.prior.mean_energy() / (2 * static_cast<double>(spec.pilots));
    draw_sets(problem, spec.train, spec.test, seed, pool);
    return problem;
}

}  // namespace pibinn
