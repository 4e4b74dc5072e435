#pragma once

#include "pibinn/synthetic_problem.hpp"

namespace pibinn::testing {

inline Problem small_problem(ThreadPool& pool,
                             const Structure& structure = Structure::dense(12, 20)) {
    SyntheticSpec spec;
    spec.train = 150;
    spec.test = 40;
    spec.prior.density = 0.1;
    return make_synthetic(spec, Operator::random(structure, OperatorEnsemble::gaussian, 9), 9,
                          pool);
}

}  // namespace pibinn::testing
