#include "bench/elementwise.hpp"

namespace pibinn::bench {

void signs(std::size_t count, const float* __restrict latent, float scale, float* __restrict w) {
    for (std::size_t i = 0; i < count; ++i) w[i] = latent[i] < 0 ? -scale : scale;
}

void subtract(std::size_t count, const float* __restrict p, const float* __restrict y,
              float* __restrict r) {
    for (std::size_t i = 0; i < count; ++i) r[i] = p[i] - y[i];
}

void soft_threshold(std::size_t count, const float* __restrict x_before, const float* __restrict q,
                    float theta, float* __restrict x) {
    if (x_before) {
        for (std::size_t i = 0; i < count; ++i) {
            const float z = x_before[i] - q[i];
            x[i] = z > theta ? z - theta : (z < -theta ? z + theta : 0.0F);
        }
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            const float z = -q[i];
            x[i] = z > theta ? z - theta : (z < -theta ? z + theta : 0.0F);
        }
    }
}

float loss_gradient(std::size_t count, const float* __restrict x, const float* __restrict target,
                    float factor, float* __restrict g) {
    float squares = 0;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) {
        const float e = x[i] - target[i];
        squares += e * e;
        g[i] = factor * e;
    }
    return squares;
}

// Sums in sixteen lanes: what -ffast-math would do, without changing the rest.
float through_threshold(std::size_t count, const float* __restrict x, float* __restrict g) {
    constexpr std::size_t lanes = 16;
    float sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) {
            const float v = x[i + l] != 0 ? g[i + l] : 0.0F;
            g[i + l] = v;
            sums[l] += x[i + l] < 0 ? v : -v;
        }
    for (; i < count; ++i) {
        const float v = x[i] != 0 ? g[i] : 0.0F;
        g[i] = v;
        sums[0] += x[i] < 0 ? v : -v;
    }
    float sum = 0;
    for (float s : sums) sum += s;
    return sum;
}

void add(std::size_t count, const float* __restrict part, float* __restrict total) {
    for (std::size_t i = 0; i < count; ++i) total[i] += part[i];
}

float dot_signs(std::size_t count, const float* __restrict g, const float* __restrict latent) {
    constexpr std::size_t lanes = 16;
    float sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) sums[l] += latent[i + l] < 0 ? -g[i + l] : g[i + l];
    for (; i < count; ++i) sums[0] += latent[i] < 0 ? -g[i] : g[i];
    float sum = 0;
    for (float s : sums) sum += s;
    return sum;
}

void adam(std::size_t count, float rate, float correct1, float correct2, const float* __restrict g,
          float* __restrict first, float* __restrict second, float* __restrict values) {
    for (std::size_t i = 0; i < count; ++i) {
        first[i] = 0.9F * first[i] + 0.1F * g[i];
        second[i] = 0.999F * second[i] + 0.001F * g[i] * g[i];
        const float root = __builtin_sqrtf(correct2 * second[i]);
        values[i] -= rate * correct1 * first[i] / (root + 1e-8F);
    }
}

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
