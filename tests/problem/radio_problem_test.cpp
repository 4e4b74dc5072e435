#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "core/contains.hpp"
#include "pibinn/access_problem.hpp"
#include "pibinn/beamspace_problem.hpp"
#include "pibinn/error.hpp"
#include "pibinn/fourier_problem.hpp"

namespace pibinn {
namespace {

using Complex = std::complex<double>;

/// Entry j of vector v of a row that holds vectors of n complex entries.
Complex entry(std::span<const float> row, std::size_t n, std::size_t j, std::size_t v = 0) {
    return {row[2 * n * v + j], row[2 * n * v + n + j]};
}

double energy(std::span<const float> values) {
    double sum = 0;
    for (const float v : values) sum += double{v} * v;
    return sum;
}

double mean_energy(const Batch& x) { return energy(x.values()) / static_cast<double>(x.rows()); }

/// The noise of the test set, y - A x.
Batch noise_of(const Problem& problem, ThreadPool& pool) {
    Batch noise = problem.op.apply(problem.test.x, pool);
    for (std::size_t i = 0; i < noise.size(); ++i)
        noise.data()[i] = problem.test.y.data()[i] - noise.data()[i];
    return noise;
}

template <class Make>
std::string refusal(const Make& make) {
    try {
        make();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        return std::string(e.message());
    }
    return "nothing was refused";
}

TEST(Beamspace, APathIsADirichletKernelOfUnitEnergy) {
    ThreadPool pool(1);
    const std::size_t n = 16;
    const BeamspacePrior prior{.antennas = n, .paths = 1};
    const Batch x = draw_signals(prior, 200, 2 * n, 1, Purpose::train_signals, pool);
    for (std::size_t i = 0; i < x.rows(); ++i) {
        // A steering vector in beams: what the row is for the right direction, and for no other.
        Complex steering[16];
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < n; ++b)
                steering[a] +=
                    entry(x.row(i), n, b) *
                    std::polar(1 / std::sqrt(16.0),
                               2 * std::numbers::pi * (double(a) - 7.5) * (double(b) - 7.5) / 16);
        for (std::size_t a = 0; a < n; ++a)
            EXPECT_NEAR(std::abs(steering[a]), std::abs(steering[0]), 1e-5) << "row " << i;
        for (std::size_t a = 2; a < n; ++a)
            EXPECT_NEAR(std::arg(steering[a] * std::conj(steering[a - 1]) *
                                 std::conj(steering[1] * std::conj(steering[0]))),
                        0, 1e-3 / std::abs(steering[0]))
                << "row " << i;
    }
}

TEST(Beamspace, GainsAreThoseOfThePaperOrOfItsProgram) {
    ThreadPool pool(2);
    const auto mean = [&](BeamspacePrior prior) {
        return mean_energy(
            draw_signals(prior, 20000, 2 * prior.antennas, 3, Purpose::train_signals, pool));
    };
    const double reflected = std::pow(10.0, -0.5);
    EXPECT_NEAR(mean({.antennas = 32, .paths = 1}), 1, 0.03);
    EXPECT_NEAR(mean({.antennas = 32, .paths = 3}), 1 + 2 * reflected, 0.04);
    EXPECT_NEAR(mean({.antennas = 32, .paths = 1, .gains = PathGains::code}), 1, 1e-5);
    EXPECT_NEAR(mean({.antennas = 32, .paths = 3, .gains = PathGains::code}), 1.2, 0.02);
}

TEST(Beamspace, DirectionsOfTheProgramCrowdAtTheSides) {
    ThreadPool pool(1);
    const auto outer = [&](PathGains gains) {
        const BeamspacePrior prior{.antennas = 32, .paths = 1, .gains = gains};
        const Batch x = draw_signals(prior, 2000, 64, 5, Purpose::train_signals, pool);
        std::size_t count = 0;
        for (std::size_t i = 0; i < x.rows(); ++i) {
            std::size_t peak = 0;
            for (std::size_t j = 1; j < 32; ++j)
                if (std::abs(entry(x.row(i), 32, j)) > std::abs(entry(x.row(i), 32, peak)))
                    peak = j;
            count += peak < 8 || peak >= 24;
        }
        return static_cast<double>(count) / 2000;
    };
    EXPECT_NEAR(outer(PathGains::paper), 0.5, 0.04);
    EXPECT_NEAR(outer(PathGains::code), 2.0 / 3, 0.04);  // |sin(angle)| > 1/2
}

TEST(Beamspace, NoiseIsOfTheRatioAloneAndTheOperatorOfSigns) {
    ThreadPool pool(2);
    BeamspaceSpec spec;
    spec.measurements = 24;
    spec.prior.antennas = 64;
    spec.users = 2;
    spec.train = 10;
    spec.test = 1000;
    spec.snr_db = {5, 5};
    const Problem problem = make_beamspace(spec, 7, pool);
    EXPECT_EQ(problem.train.x.rows(), 20u);
    EXPECT_EQ(problem.test.x.rows(), 2000u);
    EXPECT_EQ(problem.op.structure(), Structure::repeated(24, 64, 2));
    EXPECT_TRUE(problem.op.is_sign());
    EXPECT_FLOAT_EQ(std::abs(problem.op.values()[0]), 1 / std::sqrt(24.0F));
    EXPECT_TRUE(problem.domain.complex);
    const Batch noise = noise_of(problem, pool);
    const double ratio = std::pow(10.0, 0.5);
    // 1/(Q SNR) for each of the 24 complex measurements, in strong channels and in faint ones.
    EXPECT_NEAR(mean_energy(noise), 1 / ratio, 0.01);
    double faint = 0, count = 0;
    for (std::size_t i = 0; i < 2000; ++i)
        if (energy(problem.test.x.row(i)) < 0.5) faint += energy(noise.row(i)), ++count;
    EXPECT_GT(count, 100);
    EXPECT_NEAR(faint / count, 1 / ratio, 0.04);
    const ProblemTraits traits = problem.traits();
    EXPECT_TRUE(traits.drawn && traits.disturbed && traits.complex && !traits.noise_varies);
    spec.snr_db = {0, 20};
    EXPECT_TRUE(make_beamspace(spec, 7, pool).traits().noise_varies);
}

TEST(Access, UsersShareTheirSupportOverAntennas) {
    ThreadPool pool(2);
    const AccessPrior prior{.users = 40, .activity = 0.1, .antennas = 3};
    const Batch x = draw_signals(prior, 3000, 240, 1, Purpose::train_signals, pool);
    double active = 0, first = 0;
    for (std::size_t i = 0; i < x.rows(); ++i) {
        std::size_t own = 0;
        for (std::size_t j = 0; j < 40; ++j) {
            const bool sends = entry(x.row(i), 40, j) != 0.0;
            for (std::size_t a = 1; a < 3; ++a) EXPECT_EQ(entry(x.row(i), 40, j, a) != 0.0, sends);
            own += sends;
        }
        EXPECT_GE(own, 1u);
        active += static_cast<double>(own);
        first += energy(x.row(i).subspan(0, 80));
    }
    EXPECT_NEAR(active / 3000, 4 + std::pow(0.9, 40), 0.15);
    EXPECT_NEAR(mean_energy(x) / 3, prior.mean_energy(), 0.03 * prior.mean_energy());
    // One antenna: E|h|^2 is 1 + 0.1/5 at amplitude 1.
    const AccessPrior one{.users = 40, .activity = 0.1};
    EXPECT_NEAR(first / 3000, one.mean_energy(), 0.03 * one.mean_energy());
    EXPECT_GT(one.mean_energy(), prior.mean_energy());
}

TEST(Access, AmplitudesFallWithTheFourthPowerOfTheDistance) {
    ThreadPool pool(1);
    const AccessPrior prior{.users = 1, .activity = 1, .antennas = 1, .radius = 2};
    const Batch x = draw_signals(prior, 20000, 2, 2, Purpose::train_signals, pool);
    // Half of the disc lies beyond a distance of sqrt(2), where the amplitude is 1/5. Fading is
    // symmetric about that but for its mean of 1 + 0.02/4.
    std::size_t strong = 0;
    for (std::size_t i = 0; i < x.rows(); ++i) strong += std::abs(entry(x.row(i), 1, 0)) > 0.2;
    EXPECT_NEAR(static_cast<double>(strong) / 20000, 0.5, 0.015);
}

TEST(Access, UsersOfFlatGainsArriveAlike) {
    ThreadPool pool(2);
    AccessPrior prior{.users = 20, .activity = 0.2, .antennas = 2, .radius = 3};
    const Batch faded = draw_signals(prior, 4000, 80, 1, Purpose::train_signals, pool);
    prior.gains = AccessGains::flat;
    const Batch x = draw_signals(prior, 4000, 80, 1, Purpose::train_signals, pool);
    // E|h|^2 of five paths of amplitude 1 and one angle: 1 + 0.1/5, whatever the distance.
    double first = 0, count = 0;
    for (std::size_t i = 0; i < x.rows(); ++i)
        for (std::size_t j = 0; j < 20; ++j) {
            const double power = std::norm(entry(x.row(i), 20, j));
            // The same users send, at the same phases.
            const Complex own = entry(faded.row(i), 20, j);
            EXPECT_EQ(power != 0.0, own != 0.0);
            if (power == 0.0) continue;
            first += power;
            ++count;
            EXPECT_NEAR(std::arg(entry(x.row(i), 20, j)), std::arg(own), 1e-4);
        }
    EXPECT_NEAR(first / count, 1.02, 0.02);
    EXPECT_NEAR(mean_energy(x) / 2, prior.mean_energy(), 0.03 * prior.mean_energy());
}

TEST(Access, PilotsAreQpskAndNoiseIsRelativeToTheMeanPower) {
    ThreadPool pool(2);
    AccessSpec spec;
    spec.prior = {.users = 60, .activity = 0.05, .antennas = 2};
    spec.pilots = 16;
    spec.train = 4;
    spec.test = 3000;
    const Problem problem = make_access(spec, 3, pool);
    EXPECT_EQ(problem.op.structure(), Structure::complex(16, 60, 2));
    EXPECT_TRUE(problem.op.is_sign());
    EXPECT_FLOAT_EQ(std::abs(problem.op.values()[0]), 1 / std::sqrt(32.0F));
    EXPECT_EQ(problem.domain.vectors, 2u);
    const Batch clean = problem.op.apply(problem.test.x, pool);
    const Batch noise = noise_of(problem, pool);
    EXPECT_NEAR(10 * std::log10(mean_energy(clean) / mean_energy(noise)), 10, 0.2);
    double faint = 0, count = 0;
    for (std::size_t i = 0; i < 3000; ++i)
        if (energy(clean.row(i)) < 0.3 * mean_energy(clean)) faint += energy(noise.row(i)), ++count;
    EXPECT_GT(count, 100);
    EXPECT_NEAR(faint / count, mean_energy(noise), 0.1 * mean_energy(noise));
}

TEST(Fourier, MeasuresRowsOfTheUnitaryTransform) {
    ThreadPool pool(1);
    FourierSpec spec;
    spec.prior = {.n = 20, .nonzeros = 3};
    spec.m = 8;
    spec.train = 5;
    spec.test = 50;
    spec.snr_db.reset();
    const Problem problem = make_fourier(spec, 9, pool);
    ASSERT_EQ(problem.op.structure(), Structure::complex(8, 20));
    ASSERT_NE(problem.op.formula(), nullptr);
    const auto& rows = problem.op.formula()->parts[0].rows;
    EXPECT_EQ(std::set<std::uint32_t>(rows.begin(), rows.end()).size(), 16u);
    for (std::size_t i = 0; i < 50; ++i)
        for (std::size_t k = 0; k < 8; ++k) {
            Complex sum = 0;
            for (std::size_t j = 0; j < 20; ++j)
                sum += entry(problem.test.x.row(i), 20, j) *
                       std::polar(std::sqrt(1 / 8.0),
                                  -2 * std::numbers::pi * rows[k] * double(j) / 20);
            EXPECT_NEAR(std::abs(sum - entry(problem.test.y.row(i), 8, k)), 0, 1e-5);
        }
}

TEST(Fourier, SpectraHaveTheirNumberOrShareOfEntries) {
    ThreadPool pool(1);
    const auto counts = [&](const SpectrumPrior& prior) {
        const Batch x = draw_signals(prior, 2000, 2 * prior.n, 4, Purpose::train_signals, pool);
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < x.rows(); ++i) {
            found.push_back(0);
            for (std::size_t j = 0; j < prior.n; ++j)
                found.back() += entry(x.row(i), prior.n, j) != 0.0;
        }
        EXPECT_NEAR(mean_energy(x), std::accumulate(found.begin(), found.end(), 0.0) / 2000, 0.2);
        return found;
    };
    for (const std::size_t count : counts({.n = 30, .nonzeros = 8})) EXPECT_EQ(count, 8u);
    for (const std::size_t count : counts({.n = 5, .nonzeros = 5})) EXPECT_EQ(count, 5u);
    double sum = 0;
    for (const std::size_t count : counts({.n = 30, .density = 0.1})) {
        EXPECT_GE(count, 1u);
        sum += static_cast<double>(count);
    }
    EXPECT_NEAR(sum / 2000, 3 + std::pow(0.9, 30), 0.12);
}

TEST(Priors, RowsDependOnTheirIndexAloneAndNotOnThreads) {
    ThreadPool one(1), three(3);
    const std::vector<std::pair<SignalPrior, std::size_t>> priors{
        {BeamspacePrior{.antennas = 12}, 24},
        {AccessPrior{.users = 9, .activity = 0.2, .antennas = 2}, 36},
        {SpectrumPrior{.n = 15, .nonzeros = 4}, 30}};
    for (const auto& [prior, n] : priors) {
        const Batch all = draw_signals(prior, 200, n, 5, Purpose::augment, one);
        EXPECT_EQ(all, draw_signals(prior, 200, n, 5, Purpose::augment, three));
        const Batch part = draw_signals(prior, 20, n, 5, Purpose::augment, one, 130);
        for (std::size_t i = 0; i < 20; ++i)
            for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(part(i, j), all(130 + i, j));
        EXPECT_NE(all, draw_signals(prior, 200, n, 5, Purpose::train_signals, one));
    }
}

TEST(Priors, ThatMakeNoSenseAreRefused) {
    ThreadPool pool(1);
    const auto beamspace = [&](std::size_t antennas, std::size_t paths, std::size_t users,
                               std::size_t measurements) {
        return refusal([&] {
            BeamspaceSpec spec;
            spec.prior = {.antennas = antennas, .paths = paths};
            spec.users = users;
            spec.measurements = measurements;
            make_beamspace(spec, 1, pool);
        });
    };
    EXPECT_PRED2(contains, beamspace(8, 0, 1, 4), "0 paths and 8 antennas");
    EXPECT_PRED2(contains, beamspace(8, 9, 1, 4), "9 paths and 8 antennas");
    EXPECT_PRED2(contains, beamspace(8, 2, 0, 4), "0 users");
    EXPECT_PRED2(contains, beamspace(8, 2, 1, 9), "9 measurements of 8 antennas");
    EXPECT_PRED2(contains, beamspace(0, 2, 1, 1), "1 measurements of 0 antennas");
    const auto access = [&](std::size_t users, std::size_t pilots, double activity,
                            std::size_t antennas) {
        return refusal([&] {
            AccessSpec spec;
            spec.prior = {.users = users, .activity = activity, .antennas = antennas};
            spec.pilots = pilots;
            make_access(spec, 1, pool);
        });
    };
    EXPECT_PRED2(contains, access(8, 9, 0.1, 1), "9 pilot symbols for 8 users");
    EXPECT_PRED2(contains, access(8, 0, 0.1, 1), "0 pilot symbols");
    EXPECT_PRED2(contains, access(8, 4, 0, 1), "activity of 0 is not in (0, 1]");
    EXPECT_PRED2(contains, access(8, 4, 1.5, 1), "activity of 1.5");
    EXPECT_PRED2(contains, access(8, 4, 0.1, 0), "0 antennas");
    const auto fourier = [&](std::size_t n, std::size_t m, std::size_t nonzeros) {
        return refusal([&] {
            FourierSpec spec;
            spec.prior = {.n = n, .nonzeros = nonzeros};
            spec.m = m;
            make_fourier(spec, 1, pool);
        });
    };
    EXPECT_PRED2(contains, fourier(8, 9, 2), "9 rows of a Fourier transform of 8 entries");
    EXPECT_PRED2(contains, fourier(8, 4, 9), "9 of 8 entries");
    EXPECT_PRED2(contains, fourier(8, 4, 0), "0 of 8 entries");
}

}  // namespace
}  // namespace pibinn
