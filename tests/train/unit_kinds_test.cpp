#include <cmath>

#include "model/cases.hpp"
#include "pibinn/real_problem.hpp"
#include "train/unit_cases.hpp"

namespace pibinn {
namespace {

using testing::arrays;
using testing::expect_same_training;
using testing::trained;

TEST(Units, SignalsInABasisMayBeOfAnyUnit) {
    ThreadPool pool(2);
    NetworkSpec spec;
    spec.layers = 3;
    const auto in_basis = [&](double x_unit, double a_unit) {
        ArrayProblem given = arrays<double>(Structure::dense(12, 20), x_unit, a_unit, pool);
        given.basis = Basis::named(BasisKind::dct, 20);
        return trained(given, spec, "default", 5, pool);
    };
    expect_same_training(in_basis(1, 1), in_basis(3.3e-9, 1.7e5), "dct");
}

TEST(Units, DrawnSignalsMayMeetAnOperatorOfAnyUnit) {
    ThreadPool pool(2);
    SyntheticSpec spec;
    spec.train = 200;
    spec.test = 50;
    const auto met = [&](double unit) {
        spec.noise_std = 0.05 * unit;
        const ArrayProblem given = arrays<double>(Structure::dense(12, 20), 1, unit, pool);
        return trained(make_synthetic(spec, given.op, 4, pool), pool);
    };
    const TrainResult usual = met(1);
    for (const double unit : {1e-9, 37.0, 1e9})
        expect_same_training(usual, met(unit), fmt::format("{}", unit));
}

TEST(Units, RealSignalsMayBeOfAnyUnit) {
    ThreadPool pool(2);
    for (const Normalize normalize : {Normalize::none, Normalize::patch, Normalize::zscore})
        for (const NoisePlace place :
             {NoisePlace::signals, NoisePlace::normalised, NoisePlace::measurements}) {
            const auto real = [&](double unit, double a_unit) {
                Stream stream(8, Purpose::tests);
                const auto rows = [&](std::size_t count) {
                    Matrix<double> x(count, 16);
                    for (std::size_t i = 0; i < x.size(); ++i)
                        x.data()[i] =
                            unit * (0.3 + stream.normal() / (1 + static_cast<double>(i % 16)));
                    return x;
                };
                RealSignals signals;
                signals.train = rows(200);
                signals.test = rows(50);
                signals.train_artefacts = rows(4);
                signals.test_artefacts = rows(2);
                signals.least_snr_db = signals.most_snr_db = 20;
                // Normalised signals have no unit, and so has the noise that is added to these.
                const double of_coefficients = normalize == Normalize::zscore ? 1 : unit;
                signals.noise_std =
                    0.05 * (place == NoisePlace::signals      ? unit
                            : place == NoisePlace::normalised ? of_coefficients
                                                              : of_coefficients * a_unit);
                signals.noise_place = place;
                signals.where = "test";
                SensingSpec sensing;
                sensing.given = arrays<double>(Structure::dense(8, 16), 1, a_unit, pool).op;
                SignalDomain domain;
                domain.normalize = normalize;
                return trained(make_real(signals, domain, sensing, 2, pool), pool);
            };
            const TrainResult usual = real(1, 1);
            EXPECT_LT(usual.test.nmse_db, -1);
            for (const auto& [unit, a_unit] : {std::pair{3e-9, 1.0}, {255.0, 3e-3}, {1e9, 7e4}})
                expect_same_training(
                    usual, real(unit, a_unit),
                    fmt::format("{} {} {}", to_string(normalize), to_string(place), unit));
        }
}

TEST(Units, ADenseNetworkOfAStructuredProblemKeepsItsDigits) {
    ThreadPool pool(2);
    const Structure mask = testing::some_structure(StructureKind::mask);
    const auto dense = [&](double x_unit, double a_unit) {
        const Problem problem =
            Problem::from_arrays(arrays<double>(mask, x_unit, a_unit, pool), pool);
        return trained(without_structure(problem), pool);
    };
    const TrainResult usual = dense(1, 1);
    EXPECT_EQ(usual.model.op.structure().kind(), StructureKind::dense);
    expect_same_training(usual, dense(7.7e8, 1.3e-7), "dense");
}

}  // namespace
}  // namespace pibinn
