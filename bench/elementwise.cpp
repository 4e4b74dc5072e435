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
                           float delta, float step, float theta, float* __restrict x) {
    for (std::size_t i = 0; i < count; ++i) {
        const float z = delta * v[i] - step * q[i];
        x[i] = z > theta ? z - theta : (z < -theta ? z + theta : 0.0F);
    }
}

float piecewise_scaled(std::size_t count, const float* __restrict v, const float* __restrict q,
                       float delta, float step, std::size_t pieces, const float* theta,
                       const float* gain, float tau, float* __restrict x) {
    constexpr std::size_t lanes = 16;
    float sums[lanes] = {};
    float slopes = 0;
    for (std::size_t first = 0; first < pieces; first += 4) {
        float t[4] = {}, g[4] = {};
        for (std::size_t j = 0; j < 4 && first + j < pieces; ++j) {
            t[j] = theta[first + j] * tau;
            g[j] = gain[first + j];
        }
        const float t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3];
        const float g0 = g[0], g1 = g[1], g2 = g[2], g3 = g[3];
        const float keep = first == 0 ? 0.0F : 1.0F;
        // Unrolled by hand and without branches, so that the compiler makes vectors of it.
        std::size_t i = 0;
        for (; i + lanes <= count; i += lanes)
            for (std::size_t l = 0; l < lanes; ++l) {
                const float z = delta * v[i + l] - step * q[i + l];
                const float size = __builtin_fabsf(z);
                const float s0 = size > t0 ? g0 : 0.0F, s1 = size > t1 ? g1 : 0.0F;
                const float s2 = size > t2 ? g2 : 0.0F, s3 = size > t3 ? g3 : 0.0F;
                const float sum =
                    s0 * (size - t0) + s1 * (size - t1) + s2 * (size - t2) + s3 * (size - t3);
                x[i + l] = keep * x[i + l] + __builtin_copysignf(1.0F, z) * sum;
                sums[l] += s0 + s1 + s2 + s3;
            }
        for (; i < count; ++i) {
            const float z = delta * v[i] - step * q[i];
            const float size = __builtin_fabsf(z);
            float sum = 0;
            for (std::size_t j = 0; j < 4; ++j) {
                sum += size > t[j] ? g[j] * (size - t[j]) : 0.0F;
                slopes += size > t[j] ? g[j] : 0.0F;
            }
            x[i] = keep * x[i] + __builtin_copysignf(1.0F, z) * sum;
        }
    }
    for (float s : sums) slopes += s;
    return slopes;
}

}  // namespace pibinn::bench
