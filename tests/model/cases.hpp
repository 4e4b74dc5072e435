#pragma once

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "model/network.hpp"
#include "pibinn/random.hpp"
#include "pibinn/synthetic_problem.hpp"

namespace pibinn::testing {

inline Structure some_mask(std::size_t m, std::size_t n) {
    std::vector<std::uint32_t> offsets{0};
    std::vector<std::uint32_t> rows;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < m; ++i)
            if ((i + 2 * j) % 3 == 0 || i == j % m) rows.push_back(static_cast<std::uint32_t>(i));
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    return Structure::mask(m, n, offsets, rows);
}

/// A small structure of each kind, of sizes that are multiples of nothing.
inline Structure some_structure(StructureKind kind) {
    static const std::vector<std::pair<std::size_t, std::size_t>> shapes{{5, 9}, {7, 6}, {1, 2}};
    switch (kind) {
        case StructureKind::dense:
            return Structure::dense(13, 21);
        case StructureKind::repeated:
            return Structure::repeated(5, 9, 3);
        case StructureKind::blocks:
            return Structure::blocks(shapes);
        case StructureKind::mask:
            return some_mask(11, 17);
    }
    return {};
}

/// A complex operator of Gaussian entries.
inline Operator some_complex_operator(std::size_t m, std::size_t n, std::size_t repeat = 1) {
    Stream stream(3, Purpose::tests);
    Matrix<float> re(m, n), im(m, n);
    const double size = 1 / std::sqrt(2 * static_cast<double>(m));
    for (Matrix<float>* part : {&re, &im})
        for (float& v : part->values()) v = static_cast<float>(size * stream.normal());
    return Operator::from_complex(re, im, repeat);
}

/// The same on a pattern, or a real one on both parts of complex vectors.
inline Operator some_complex_mask(const Structure& pattern, bool imaginary) {
    Stream stream(4, Purpose::tests);
    const Structure s = Structure::complex_mask(pattern, imaginary);
    AlignedBuffer<float> values(s.links());
    const double each = static_cast<double>(s.links()) / static_cast<double>(s.cols());
    for_each_pair(s, [&](std::size_t first, std::size_t second, float sign) {
        values[first] = static_cast<float>(stream.normal() / std::sqrt(each));
        values[second] = sign * values[first];
    });
    return {s, std::move(values)};
}

/// Effective parameters that keep the layers alive: W near a scaled A, moderate thresholds.
inline ParameterStore some_parameters(const Network& network, const Operator& op, Backend& backend,
                                      std::uint64_t seed) {
    Stream stream(seed, Purpose::tests);
    ParameterStore latent(network.layout());
    const NetworkSpec& spec = network.spec();
    for (std::size_t k = 1; k <= spec.layers; ++k) {
        auto w = latent.weights(k);
        for (std::size_t l = 0; l < w.size(); ++l)
            w[l] = static_cast<float>(0.1 * stream.normal()) +
                   (spec.architecture == Architecture::unrolled ? 0.3F * op.values()[l] : 0.0F);
    }
    for (float& v : latent.theta()) v = static_cast<float>(0.05 + 0.1 * stream.uniform());
    for (float& v : latent.gain()) v = static_cast<float>(1.5 * stream.uniform() - 0.3);
    for (float& v : latent.step())
        v = static_cast<float>((spec.tied() ? 0.3 : 0.8) + 0.2 * stream.uniform());
    for (float& v : latent.beta()) v = static_cast<float>(0.2 + 0.3 * stream.uniform());
    for (float& v : latent.omega()) v = static_cast<float>(0.3 * stream.uniform());
    if (spec.has_prior())
        for (float& v : latent.theta()) v = static_cast<float>(0.5 + stream.uniform());
    for (float& v : latent.local()) v = static_cast<float>(0.05 + 0.3 * stream.uniform());
    for (float& v : latent.prior()) v = static_cast<float>(stream.normal() - 1);
    for (float& v : latent.scale()) v = 0.11F;
    ParameterStore effective(network.layout());
    make_effective(spec.weights, latent, effective, backend);
    return effective;
}

inline std::vector<double> as_double(std::span<const float> values) {
    return {values.begin(), values.end()};
}

}  // namespace pibinn::testing
