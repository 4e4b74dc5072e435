#include "infer/c_api_fixture.h"

#include <algorithm>
#include <cstdio>

#include "infer/count_allocations.hpp"
#include "pibinn/model.hpp"
#include "pibinn/random.hpp"
#include "pibinn/recoverer.hpp"

namespace {

pibinn::Model some_model(fixture_kind kind) {
    pibinn::NetworkSpec spec;
    spec.layers = 3;
    if (kind == FIXTURE_FLOAT) spec.weights = pibinn::WeightKind::real;
    const auto op = pibinn::Operator::random(pibinn::Structure::dense(kMeasurements, kEntries),
                                             pibinn::OperatorEnsemble::gaussian, 1);
    pibinn::Model model = pibinn::untrained_model(spec, op, 0.01);
    if (kind == FIXTURE_BASIS) {
        model.domain.basis = pibinn::Basis::named(pibinn::BasisKind::dct, kEntries);
        model.domain.normalize = pibinn::Normalize::zscore;
        model.domain.mean = 3;
        model.domain.deviation = 2;
    }
    return model;
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
        const pibinn::Batch found = pibinn::Recoverer(model)(measured, pool);
        std::copy_n(measured.data(), measured.size(), y);
        std::copy_n(found.data(), found.size(), x);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fixture: %s\n", error.what());
        return 1;
    }
}
