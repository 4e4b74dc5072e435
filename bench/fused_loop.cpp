#include "bench/fused_loop.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace pibinn::bench {

namespace {

constexpr std::size_t kLanes = kFusedLanes;
// Signals x vectors of outputs that stay in registers: 16 sums with AVX-512, 12 halves else.
#ifdef __AVX512F__
constexpr std::size_t kSignals = 8;
#else
constexpr std::size_t kSignals = 3;
#endif

using Vector [[gnu::vector_size(64)]] = float;

Vector load(const float* from) {
    Vector v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
void store(float* to, Vector v) { __builtin_memcpy(to, &v, sizeof v); }

/// p = A x from the columns of the support, kVectors vectors of measurements at a time.
template <std::size_t kVectors>
void measure(const FusedSpace& s, std::size_t row, std::size_t first) {
    const float* x = s.x1 + row * s.n_padded;
    const std::uint32_t* support = s.support + row * s.n_padded;
    Vector sums[kVectors] = {};
    for (std::size_t c = 0; c < s.alive[row]; ++c) {
        const float* column = s.a + support[c] * s.m_padded + first;
        const float factor = x[support[c]];
        for (std::size_t v = 0; v < kVectors; ++v) sums[v] += load(column + v * kLanes) * factor;
    }
    for (std::size_t v = 0; v < kVectors; ++v)
        store(s.p1 + row * s.m_padded + first + v * kLanes, sums[v]);
}

void measure_all(const FusedSpace& s, std::size_t row) {
    std::size_t first = 0;
    for (; first + 8 * kLanes <= s.m_padded; first += 8 * kLanes) measure<8>(s, row, first);
    for (; first + 4 * kLanes <= s.m_padded; first += 4 * kLanes) measure<4>(s, row, first);
    for (; first < s.m_padded; first += kLanes) measure<1>(s, row, first);
}

/// r = (1 + beta) p1 - beta p2 - y + omega r, and the threshold.
void next_residual(const FusedSpace& s, const FusedLayer& layer, std::size_t row) {
    const std::size_t at = row * s.m_padded;
    const float omega = layer.omega * static_cast<float>(s.alive[row]);
    Vector sums = {};
    for (std::size_t i = at; i < at + s.m_padded; i += kLanes) {
        Vector r = load(s.p1 + i) - load(s.y + i);
        if (!s.plain) r += layer.beta * (load(s.p1 + i) - load(s.p2 + i)) + omega * load(s.r + i);
        store(s.r + i, r);
        if (s.residual_threshold) sums += r < 0.0F ? -r : r;
    }
    s.tau[row] = layer.theta;
    if (!s.residual_threshold) return;
    float sum = 0;
    for (std::size_t l = 0; l < kLanes; ++l) sum += sums[l];
    s.tau[row] *= sum / static_cast<float>(s.m);
}

/// Soft threshold of one vector of z, and the places that stay alive.
[[gnu::always_inline]] inline std::size_t next_entries(const FusedSpace& s, const FusedLayer& layer,
                                                       std::size_t row, std::size_t j, Vector q,
                                                       std::size_t alive) {
    const std::size_t at = row * s.n_padded + j;
    Vector v = load(s.x1 + at);
    if (!s.plain) v += layer.beta * (v - load(s.x2 + at));
    const Vector z = s.delta * v - q;
    const Vector zero = {};
    const Vector tau = zero + s.tau[row];
    const Vector x = z > tau ? z - tau : (z < -tau ? z + tau : zero);
    store(s.x2 + at, x);
    std::uint32_t* to = s.support + row * s.n_padded + alive;
#ifdef __AVX512F__
    const __mmask16 set = _mm512_cmp_ps_mask(x, zero, _CMP_NEQ_OQ);
    const __m512i places =
        _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(j)),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    _mm512_mask_compressstoreu_epi32(to, set, places);
    return alive + static_cast<std::size_t>(__builtin_popcount(set));
#else
    std::size_t count = 0;
    for (std::size_t l = 0; l < kLanes; ++l) {
        to[count] = static_cast<std::uint32_t>(j + l);
        count += x[l] != 0;
    }
    return alive + count;
#endif
}

/// W^T r and the threshold of kRows signals and kVectors vectors of outputs.
template <std::size_t kRows, std::size_t kVectors>
void project(const FusedSpace& s, const FusedLayer& layer, std::size_t row, std::size_t block,
             std::size_t* alive) {
    Vector sums[kRows][kVectors] = {};
    const float* w = layer.weights + block * s.m * kLanes;
    const float* r = s.r + row * s.m_padded;
    for (std::size_t i = 0; i < s.m; ++i) {
        Vector weights[kVectors];
        for (std::size_t v = 0; v < kVectors; ++v) weights[v] = load(w + (v * s.m + i) * kLanes);
        for (std::size_t l = 0; l < kRows; ++l)
            for (std::size_t v = 0; v < kVectors; ++v)
                sums[l][v] += weights[v] * r[l * s.m_padded + i];
    }
    for (std::size_t l = 0; l < kRows; ++l)
        for (std::size_t v = 0; v < kVectors; ++v)
            alive[row + l] =
                next_entries(s, layer, row + l, (block + v) * kLanes, sums[l][v], alive[row + l]);
}

/// All signals with kVectors vectors of outputs, whose weights stay in the cache meanwhile.
template <std::size_t kVectors>
void project_rows(const FusedSpace& s, const FusedLayer& layer, std::size_t rows, std::size_t block,
                  std::size_t* alive) {
    static_assert(kVectors <= 2);
    std::size_t row = 0;
    for (; row + kSignals <= rows; row += kSignals)
        project<kSignals, kVectors>(s, layer, row, block, alive);
    for (; row < rows; ++row) project<1, kVectors>(s, layer, row, block, alive);
}

}  // namespace

void fused_layer(FusedSpace& space, const FusedLayer& layer, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
        measure_all(space, row);
        next_residual(space, layer, row);
    }
    std::size_t alive[kFusedRows] = {};
    const std::size_t blocks = space.n_padded / kLanes;
    std::size_t block = 0;
    if (rows == 1) {
        // Eight sums in flight hide the latency of an addition.
        for (; block + 8 <= blocks; block += 8) project<1, 8>(space, layer, 0, block, alive);
        if (blocks - block == 7) {
            project<1, 7>(space, layer, 0, block, alive);
            block += 7;
        }
        for (; block + 4 <= blocks; block += 4) project<1, 4>(space, layer, 0, block, alive);
        for (; block < blocks; ++block) project<1, 1>(space, layer, 0, block, alive);
    } else {
        for (; block + 2 <= blocks; block += 2) project_rows<2>(space, layer, rows, block, alive);
        if (block < blocks) project_rows<1>(space, layer, rows, block, alive);
    }
    for (std::size_t row = 0; row < rows; ++row) space.alive[row] = alive[row];
    float* const x = space.x1;
    space.x1 = space.x2;
    space.x2 = x;
    float* const p = space.p1;
    space.p1 = space.p2;
    space.p2 = p;
}

}  // namespace pibinn::bench
