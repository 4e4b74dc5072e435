#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "infer/packed_cases.hpp"
#include "model/model_parameters.hpp"

namespace pibinn::testing {

/// A network whose activation looks at groups or neighbours.
struct SiteCase {
    std::string name;
    Operator op;
    NetworkSpec spec;
    float cut = 0;  ///< of polish
};

/// An operator of +-1 +-j.
inline Operator qpsk(std::size_t m, std::size_t n, std::size_t repeat) {
    Stream stream(9, Purpose::tests);
    Matrix<float> re(m, n), im(m, n);
    const auto size = static_cast<float>(1 / std::sqrt(2 * static_cast<double>(m)));
    for (Matrix<float>* part : {&re, &im})
        for (float& v : part->values()) v = stream.bernoulli(0.5) ? size : -size;
    return Operator::from_complex(re, im, repeat);
}

/// The same on a pattern, or real signs that act on both parts.
inline Operator sparse_signs(const Structure& pattern, bool imaginary) {
    Stream stream(10, Purpose::tests);
    const Structure s = Structure::complex_mask(pattern, imaginary);
    const auto size = static_cast<float>(
        std::sqrt(static_cast<double>(s.cols()) / static_cast<double>(s.links())));
    AlignedBuffer<float> values(s.links());
    for_each_pair(s, [&](std::size_t first, std::size_t second, float sign) {
        values[first] = stream.bernoulli(0.5) ? size : -size;
        values[second] = sign * values[first];
    });
    return {s, std::move(values)};
}

inline std::vector<SiteCase> site_cases() {
    std::vector<SiteCase> cases;
    const auto signs = [](const Structure& s) {
        return Operator::random(s, OperatorEnsemble::rademacher, 4);
    };
    for (const auto activation :
         {Activation::soft, Activation::hard, Activation::piecewise, Activation::wiener}) {
        const auto add = [&](Operator op, Groups groups, std::size_t neighbours,
                             std::size_t grid = 0, Update update = Update::accelerated(),
                             WeightKind weights = WeightKind::tied) {
            NetworkSpec spec = spec_of(weights, update, activation);
            spec.layers = 4;
            spec.groups = groups;
            spec.neighbours = neighbours;
            spec.grid = grid;
            cases.push_back(
                {fmt::format("{} {} near {} grid {} {} {}x{} {} {}", to_string(activation),
                             to_string(groups), neighbours, grid, to_string(op.structure().kind()),
                             op.rows(), op.cols(), to_string(weights), to_string(update)),
                 std::move(op), spec});
        };
        add(signs(Structure::repeated(13, 21, 2)), Groups::complex, 0);
        add(signs(Structure::repeated(96, 256, 2)), Groups::complex, 1);
        add(signs(Structure::repeated(40, 70, 4)), Groups::complex, 3);
        add(signs(Structure::repeated(29, 33, 3)), Groups::rows, 2);
        // More rows than the kernel interleaves: one, two or none are left for the last turn.
        add(signs(Structure::repeated(29, 33, 4)), Groups::rows, 1);
        add(qpsk(17, 30, 5), Groups::rows, 0);
        add(signs(Structure::repeated(13, 21, 16)), Groups::rows, 0);
        add(qpsk(8, 20, 6), Groups::rows, 1, 0, Update::plain());
        add(qpsk(13, 21, 1), Groups::complex, 1);
        add(qpsk(32, 64, 1), Groups::complex, 0);
        add(qpsk(17, 30, 2), Groups::rows, 0);
        add(signs(Structure::dense(40, 64)), Groups::none, 2, 8);
        add(signs(Structure::dense(40, 64)), Groups::none, 5, 8, Update::plain());
        add(signs(Structure::dense(3, 7)), Groups::none, 1);
        for (const auto weights :
             {WeightKind::one_bit, WeightKind::one_bit_channel, WeightKind::ternary})
            add(Operator::random(Structure::repeated(31, 65, 2), OperatorEnsemble::gaussian, 5),
                Groups::complex, 1, 0, Update::accelerated(), weights);
        add(sparse_signs(some_mask(17, 30), true), Groups::complex, 0);
        add(sparse_signs(some_mask(40, 33), true), Groups::complex, 2);
        add(sparse_signs(some_mask(9, 16), true), Groups::complex, 0, 0, Update::plain());
        add(sparse_signs(some_mask(23, 25), true), Groups::rows, 4, 5);
        add(sparse_signs(some_mask(11, 17), false), Groups::complex, 1);
        add(sparse_signs(Structure::mask(3, 1, {0, 3}, {0, 1, 2}), true), Groups::complex, 0);
        add(sparse_signs(some_mask(1, 2), true), Groups::complex, 0);
        add(signs(some_mask(40, 64)), Groups::none, 2, 8);
        add(signs(some_mask(30, 49)), Groups::none, 5, 7, Update::plain());
        add(signs(some_mask(3, 7)), Groups::none, 3);
        for (const auto weights :
             {WeightKind::one_bit, WeightKind::one_bit_channel, WeightKind::ternary}) {
            add(some_complex_mask(some_mask(31, 24), true), Groups::complex, 1, 0,
                Update::accelerated(), weights);
            add(Operator::random(some_mask(31, 65), OperatorEnsemble::gaussian, 5), Groups::none, 2,
                0, Update::accelerated(), weights);
        }
    }
    // Without neighbours, `wiener` still looks at the prior of each site.
    for (const Operator& op : {signs(some_mask(11, 17)), qpsk(13, 21, 1)}) {
        NetworkSpec spec = spec_of(WeightKind::tied, Update::accelerated(), Activation::wiener);
        spec.layers = 4;
        spec.groups = op.structure().is_complex() ? Groups::complex : Groups::none;
        cases.push_back({"wiener alone", op, spec});
    }
    return cases;
}

inline Model model_of_case(const SiteCase& c) {
    const auto backend = make_cpu_backend();
    const auto network = make_network(c.spec, c.op, *backend);
    ParameterStore p = some_parameters(*network, c.op, *backend, 3);
    // Steps that shrink the error, so that roundings do not grow.
    for (float& v : p.omega()) v *= 0.3F;
    for (float& v : p.cut()) v = c.cut;
    return model_of(c.spec, c.op, p);
}

}  // namespace pibinn::testing
