#include "infer/c_api_fixture.h"

#include <algorithm>
#include <complex>
#include <cstdio>

#include "infer/count_allocations.hpp"
#include "pibinn/model.hpp"
#include "pibinn/random.hpp"
#include "pibinn/recoverer.hpp"

namespace {

bool has_complex_signals(fixture_kind kind) {
    return kind == FIXTURE_COMPLEX || kind == FIXTURE_COMPLEX_FLOAT ||
           kind == FIXTURE_COMPLEX_VECTORS || kind == FIXTURE_COMPLEX_POLISHED;
}

std::size_t vectors_of(fixture_kind kind) {
    return kind == FIXTURE_COMPLEX_VECTORS || kind == FIXTURE_COMPLEX_POLISHED ? 2 : 1;
}

pibinn::Operator some_operator(fixture_kind kind) {
    if (!has_complex_signals(kind))
        return pibinn::Operator::random(pibinn::Structure::dense(kMeasurements, kEntries),
                                        pibinn::OperatorEnsemble::gaussian, 1);
    const std::size_t vectors = vectors_of(kind);
    pibinn::Matrix<std::complex<float>> a(kMeasurements / 2 / vectors, kEntries / 2 / vectors);
    pibinn::Stream stream(3, pibinn::Purpose::tests);
    for (auto& v : a.values())
        v = {static_cast<float>(stream.normal()), static_cast<float>(stream.normal())};
    return pibinn::Operator::from_complex(a, vectors);
}

pibinn::Model some_model(fixture_kind kind) {
    pibinn::NetworkSpec spec;
    spec.layers = 3;
    if (kind == FIXTURE_FLOAT || kind == FIXTURE_COMPLEX_FLOAT)
        spec.weights = pibinn::WeightKind::real;
    if (kind == FIXTURE_COMPLEX_POLISHED) {
        spec.groups = pibinn::Groups::rows;
        spec.polish = 2;
    }
    const pibinn::Operator op = some_operator(kind);
    pibinn::Model model = pibinn::untrained_model(spec, op, 0.01);
    if (spec.polish > 0) model.cut = {0.7F};
    if (kind == FIXTURE_BASIS) {
        model.domain.basis = pibinn::Basis::named(pibinn::BasisKind::dct, kEntries);
        model.domain.normalize = pibinn::Normalize::zscore;
        model.domain.mean = 3;
        model.domain.deviation = 2;
    }
    model.domain.complex = has_complex_signals(kind);
    model.domain.complex_measurements = kind == FIXTURE_COMPLEX_MEASUREMENTS;
    model.domain.vectors = vectors_of(kind);
    return model;
}

/// Row by row what complex_rows.hpp says: R times (Re, Im) from R times pairs, and back.
pibinn::Batch reordered(const pibinn::Batch& rows, std::size_t vectors, bool split) {
    pibinn::Batch out(rows.rows(), rows.cols());
    const std::size_t n = rows.cols() / (2 * vectors);
    for (std::size_t i = 0; i < rows.rows(); ++i)
        for (std::size_t v = 0; v < vectors; ++v)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t part = 0; part < 2; ++part) {
                    const std::size_t pair = v * 2 * n + 2 * j + part,
                                      apart = (2 * v + part) * n + j;
                    out(i, split ? apart : pair) = rows(i, split ? pair : apart);
                }
    return out;
}

}  // namespace

size_t fixture_allocations(void) { return pibinn::testing::allocations; }

int fixture_write(fixture_kind kind, const char* path, float* y, float* x) {
    try {
        const pibinn::Model model = some_model(kind);
        model.save(path);
        pibinn::Batch measured(kRows, kMeasurements);
        pibinn::Stream stream(7, pibinn::Purpose::tests);
        for (float& v : measured.values()) v = static_cast<float>(stream.normal());
        pibinn::ThreadPool pool(2);
        const std::size_t vectors = model.domain.vectors;
        const bool complex = model.domain.measurement_rows().complex;
        pibinn::Batch found =
            pibinn::Recoverer(model)(complex ? reordered(measured, vectors, true) : measured, pool);
        if (model.domain.complex) found = reordered(found, vectors, false);
        std::copy_n(measured.data(), measured.size(), y);
        std::copy_n(found.data(), found.size(), x);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fixture: %s\n", error.what());
        return 1;
    }
}
