#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algebra/polish.hpp"
#include "model/cases.hpp"
#include "reference/reference.hpp"

// Polish whose support is made of groups, against float64 in complex numbers.

namespace pibinn {
namespace {

using namespace testing;

struct GroupCase {
    std::string name;
    Operator op;
    Groups groups;
};

/// All structures that have groups, of sizes that are multiples of nothing.
std::vector<GroupCase> group_cases() {
    std::vector<GroupCase> cases;
    const auto gaussian = [](const Structure& s) {
        return Operator::random(s, OperatorEnsemble::gaussian, 6);
    };
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{13, 19}, {21, 33}};
    const Structure blocks = Structure::blocks(shapes);
    Stream stream(11, Purpose::tests);
    for (int draw = 0; draw < 3; ++draw) {
        const std::size_t m = 13 + 2 * stream.below(15), n = m + 1 + 2 * stream.below(20);
        const std::string size = fmt::format(", {} x {}", m, n);
        const auto add = [&](const char* name, Operator op, Groups groups) {
            cases.push_back({name + size, std::move(op), groups});
        };
        add("complex", some_complex_operator(m, n), Groups::complex);
        add("complex rows", some_complex_operator(m, n, 3), Groups::rows);
        add("complex, each vector by itself", some_complex_operator(m, n, 3), Groups::complex);
        add("real, of both parts", gaussian(Structure::repeated(m, n, 2)), Groups::complex);
        add("real, of several vectors", gaussian(Structure::repeated(m, n, 4)), Groups::complex);
        add("rows", gaussian(Structure::repeated(m, n, 5)), Groups::rows);
        add("complex mask", some_complex_mask(some_mask(m, n), true), Groups::complex);
        add("real mask of both parts", some_complex_mask(some_mask(m, n), false), Groups::complex);
        add("mask", gaussian(some_mask(m, n)), Groups::none);
    }
    cases.push_back({"complex blocks", some_complex_mask(blocks, true), Groups::complex});
    cases.push_back({"blocks", gaussian(blocks), Groups::none});
    return cases;
}

/// A signal of few groups, its measurement with some noise, and what a network may have found.
struct GroupSignal {
    GroupSignal(const GroupCase& c, double share, std::uint64_t seed, double x_unit = 1)
        : found(c.op.cols()), y(c.op.rows()) {
        Stream stream(seed, Purpose::tests);
        const Structure& s = c.op.structure();
        const Grouping grouping = grouping_of(c.groups, s);
        const std::size_t n = s.cols() / s.repeat(), sites = n / grouping.halves;
        std::vector<float> truth(c.op.cols());
        for (std::size_t u = 0; u < s.repeat(); u += grouping.rows)
            for (std::size_t j = 0; j < sites; ++j) {
                const bool alive = stream.uniform() < share;
                for (std::size_t e = 0; e < grouping.rows; ++e)
                    for (std::size_t half = 0; half < grouping.halves; ++half) {
                        const std::size_t at = (u + e) * n + half * sites + j;
                        const double size = alive ? 1.0 : 0.003;
                        truth[at] = static_cast<float>(alive ? x_unit * stream.normal() : 0);
                        found[at] = static_cast<float>(truth[at] * 0.8 +
                                                       x_unit * size * 0.1 * stream.normal());
                    }
            }
        const auto a = c.op.to_dense();
        for (std::size_t i = 0; i < y.size(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < truth.size(); ++j) sum += double{a(i, j)} * truth[j];
            y[i] = static_cast<float>(sum);
        }
    }
    std::vector<float> found, y;
};

/// What the library makes of a signal, block by block and group by group.
std::vector<float> polished(const GroupCase& c, std::size_t steps, float cut, GroupSignal signal) {
    const Structure& s = c.op.structure();
    const Grouping grouping = grouping_of(c.groups, s);
    const std::size_t m = s.rows() / s.repeat(), n = s.cols() / s.repeat();
    const ConstBatchView y(signal.y.data(), s.repeat(), m);
    const BatchView x(signal.found.data(), s.repeat(), n);
    for (const Block& b : s.parts()) {
        Polish polish(b, c.op.values().subspan(b.first_link, b.links()), grouping);
        for (std::size_t u = 0; u < s.repeat(); u += grouping.rows)
            polish.run(steps, cut,
                       y.row_range(u, u + grouping.rows).col_range(b.row, b.row + b.rows),
                       x.row_range(u, u + grouping.rows).col_range(b.col, b.col + b.cols));
    }
    return signal.found;
}

std::vector<double> expected(const GroupCase& c, std::size_t steps, double cut,
                             const GroupSignal& signal) {
    NetworkSpec spec;
    spec.groups = c.groups;
    spec.polish = steps;
    std::vector<double> x(signal.found.begin(), signal.found.end());
    reference_polish(spec, c.op, cut, as_double(signal.y), x);
    return x;
}

/// The largest difference over the largest entry.
double distance(std::span<const float> found, std::span<const double> expected) {
    double error = 0, most = 0;
    for (std::size_t j = 0; j < found.size(); ++j) {
        error = std::max(error, std::abs(found[j] - expected[j]));
        most = std::max(most, std::abs(expected[j]));
    }
    return error / most;
}

TEST(GroupPolish, IsThatOfFloat64InComplexNumbers) {
    for (const GroupCase& c : group_cases())
        for (const std::size_t steps : {1, 3, 6})
            for (const std::uint64_t seed : {1, 2, 3}) {
                const GroupSignal signal(c, 0.1, seed);
                const auto reference = expected(c, steps, 0.02, signal);
                const auto found = polished(c, steps, 0.02F, signal);
                EXPECT_LE(distance(found, reference), 2e-6)
                    << c.name << ", " << steps << " steps, seed " << seed;
                for (std::size_t j = 0; j < found.size(); ++j)
                    EXPECT_EQ(found[j] == 0, reference[j] == 0) << c.name << ", entry " << j;
                EXPECT_NE(found, signal.found) << c.name;
            }
}

TEST(GroupPolish, RecoversSignalsWhoseGroupsWereFound) {
    for (const GroupCase& c : group_cases()) {
        const GroupSignal signal(c, 0.1, 4);
        const auto found = polished(c, 30, 0.02F, signal);
        const auto a = c.op.to_dense();
        double left = 0, all = 0;
        for (std::size_t i = 0; i < signal.y.size(); ++i) {
            double sum = signal.y[i];
            for (std::size_t j = 0; j < found.size(); ++j) sum -= double{a(i, j)} * found[j];
            left += sum * sum;
            all += double{signal.y[i]} * signal.y[i];
        }
        EXPECT_LE(left, 1e-10 * all) << c.name;
    }
}

TEST(GroupPolish, UnitsDoNotMatter) {
    for (const GroupCase& c : group_cases())
        for (const double x_unit : {1e-30, 1e-5, 1e5, 1e15})
            for (const double a_unit : {1e-5, 1e5}) {
                AlignedBuffer<float> values(c.op.values().begin(), c.op.values().end());
                for (float& v : values) v *= static_cast<float>(a_unit);
                const GroupCase scaled{c.name, Operator(c.op.structure(), values), c.groups};
                const GroupSignal signal(scaled, 0.1, 5, x_unit);
                EXPECT_LE(
                    distance(polished(scaled, 4, 0.02F, signal), expected(scaled, 4, 0.02, signal)),
                    2e-6)
                    << c.name << ", " << x_unit << ' ' << a_unit;
            }
}

TEST(GroupPolish, TheGroupIsJudgedNotItsEntries) {
    // One part of site 3 is nearly zero, and both parts of site 7 are below what the cut leaves.
    const GroupCase c{"", some_complex_operator(9, 12), Groups::complex};
    GroupSignal signal(c, 0, 6);
    std::ranges::fill(signal.found, 0.0F);
    signal.found[3] = 1e-4F;
    signal.found[12 + 3] = 1;
    signal.found[7] = signal.found[12 + 7] = 0.09F;
    signal.found[8] = 0.08F;
    signal.found[12 + 8] = 0.07F;
    for (std::size_t i = 0; i < signal.y.size(); ++i) signal.y[i] = 1;
    const auto found = polished(c, 4, 0.12F, signal);
    EXPECT_NE(found[3], 0);
    EXPECT_NE(found[12 + 3], 0);
    // Each part is below the cut, both together are beyond it.
    EXPECT_NE(found[7], 0);
    EXPECT_NE(found[12 + 7], 0);
    EXPECT_EQ(found[8], 0);
    EXPECT_EQ(found[12 + 8], 0);
    EXPECT_LE(distance(found, expected(c, 4, 0.12, signal)), 2e-6);
}

TEST(GroupPolish, ARowWhoseEntriesAreZeroHasTheSupportOfItsGroup) {
    const GroupCase c{"", some_complex_operator(9, 12, 2), Groups::rows};
    GroupSignal signal(c, 0, 6);
    std::ranges::fill(signal.found, 0.0F);
    signal.found[5] = 1;
    for (std::size_t i = 0; i < signal.y.size(); ++i) signal.y[i] = 1;
    const auto found = polished(c, 2, 0.1F, signal);
    EXPECT_NE(found[24 + 5], 0);
    EXPECT_NE(found[24 + 12 + 5], 0);
    EXPECT_LE(distance(found, expected(c, 2, 0.1, signal)), 2e-6);
}

TEST(GroupPolish, LeavesSignalsAloneThatItCannotImprove) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const GroupCase c{"", some_complex_operator(3, 7, 2), Groups::rows};
    GroupSignal signal(c, 0, 6);
    std::ranges::fill(signal.found, 0.0F);
    for (std::size_t i = 0; i < signal.y.size(); ++i) signal.y[i] = 1;
    EXPECT_EQ(polished(c, 3, 0, signal), signal.found) << "an empty support";
    signal.found[0] = signal.found[14 + 7 + 3] = signal.found[5] = 1;
    EXPECT_NE(polished(c, 3, 0, signal), signal.found) << "as many entries as measurements";
    EXPECT_EQ(polished(c, 0, 0, signal), signal.found) << "no steps";
    for (const float cut : {1.0F, 1e30F, infinity, nan})
        EXPECT_EQ(polished(c, 3, cut, signal), signal.found) << "nothing beyond the cut";
    signal.found[14 + 6] = 0.1F;
    EXPECT_EQ(polished(c, 3, 0, signal), signal.found) << "more entries than measurements";
    EXPECT_NE(polished(c, 3, 0.2F, signal), signal.found);
    for (const float bad : {nan, infinity, -infinity}) {
        signal.found[14 + 6] = bad;
        const auto found = polished(c, 3, 0.2F, signal);
        EXPECT_EQ(found[0], 1) << "no number in the other row of the group";
        EXPECT_FALSE(std::isfinite(found[14 + 6]));
    }
}

}  // namespace
}  // namespace pibinn
