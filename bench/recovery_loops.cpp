#include "bench/recovery_loops.hpp"

namespace pibinn::bench {

void momentum(std::size_t count, const float* __restrict x1, const float* __restrict x2, float beta,
              float* __restrict v) {
    for (std::size_t i = 0; i < count; ++i) v[i] = x1[i] + beta * (x1[i] - x2[i]);
}

float count_alive(std::size_t count, const float* __restrict x) {
    int alive = 0;
    for (std::size_t i = 0; i < count; ++i) alive += x[i] != 0;
    return static_cast<float>(alive);
}

float residual(std::size_t count, const float* __restrict p, const float* __restrict y, float omega,
               float* __restrict r) {
    constexpr std::size_t lanes = 16;
    float sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) {
            r[i + l] = p[i + l] - y[i + l] + omega * r[i + l];
            sums[l] += __builtin_fabsf(r[i + l]);
        }
    for (; i < count; ++i) {
        r[i] = p[i] - y[i] + omega * r[i];
        sums[0] += __builtin_fabsf(r[i]);
    }
    float sum = 0;
    for (float s : sums) sum += s;
    return sum;
}

void soft_threshold_scaled(std::size_t count, const float* __restrict v, const float* __restrict q,
                           float delta, float theta, float* __restrict x) {
    for (std::size_t i = 0; i < count; ++i) {
        const float z = delta * v[i] - q[i];
        x[i] = z > theta ? z - theta : (z < -theta ? z + theta : 0.0F);
    }
}

}  // namespace pibinn::bench
