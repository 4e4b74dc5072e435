#include "pibinn/fourier_problem.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "problem/draw_sets.hpp"

namespace pibinn {

namespace {

Operator draw_frequencies(std::size_t m, std::size_t n, std::uint64_t seed) {
    std::vector<std::uint32_t> rows = Stream(seed, Purpose::operator_entries).permutation(n);
    rows.resize(m);
    std::sort(rows.begin(), rows.end());
    for (std::size_t i = 0; i < m; ++i) rows.push_back(static_cast<std::uint32_t>(n) + rows[i]);
    BlockFormula formula;
    formula.rows = std::move(rows);
    formula.scale = static_cast<float>(std::sqrt(static_cast<double>(n) / static_cast<double>(m)));
    return Operator::from_formula(Structure::complex(m, n), {FormulaKind::dft, {formula}});
}

}  // namespace

Problem make_fourier(const FourierSpec& spec, std::uint64_t seed, ThreadPool& pool) {
    const std::size_t n = spec.prior.n;
    if (spec.m == 0 || spec.m > n)
        fail_usage(fmt::format("{} rows of a Fourier transform of {} entries", spec.m, n),
                   "give at least one, and at most as many as entries: each row is there once");
    Problem problem;
    problem.op = draw_frequencies(spec.m, n, seed);
    problem.domain.complex = true;
    problem.prior = spec.prior;
    problem.snr_db = spec.snr_db;
    problem.noise_std = spec.snr_db ? 0 : spec.noise_std;
    draw_sets(problem, spec.train, spec.test, seed, pool);
    return problem;
}

}  // namespace pibinn
