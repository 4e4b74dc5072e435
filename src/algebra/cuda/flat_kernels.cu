#include "algebra/cuda/flat_kernels.cuh"

namespace pibinn::cuda {

namespace {

template <class Body>
__global__ void each_kernel(std::size_t count, Body body) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
        body(i);
}

template <class Body>
void for_each(const Queue& queue, std::size_t count, const Body& body) {
    if (count == 0) return;
    each_kernel<<<blocks_for(count), kThreads, 0, queue.stream>>>(count, body);
    check(cudaGetLastError(), "starting a kernel");
}

/// to[i] = change(from[i], to[i]), where `from` may be `to`.
template <class Change>
__global__ void change_kernel(std::size_t count, const float* from, float* to, Change change) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = fours_of(count, from, to);
    for (std::size_t i = first; i < fours; i += stride) {
        const float4 f = reinterpret_cast<const float4*>(from)[i];
        float4 t = reinterpret_cast<const float4*>(to)[i];
        t = {change(f.x, t.x), change(f.y, t.y), change(f.z, t.z), change(f.w, t.w)};
        reinterpret_cast<float4*>(to)[i] = t;
    }
    for (std::size_t i = 4 * fours + first; i < count; i += stride) to[i] = change(from[i], to[i]);
}

template <class Change>
void change_each(const Queue& queue, std::size_t count, const float* from, float* to,
                 const Change& change) {
    if (count == 0) return;
    change_kernel<<<blocks_for((count + 3) / 4), kThreads, 0, queue.stream>>>(count, from, to,
                                                                              change);
    check(cudaGetLastError(), "starting a kernel");
}

// The same split whatever the device: the threads of all kPartials blocks take four neighbours each
// in turn.
template <class Term>
__global__ void partial_kernel(std::size_t count, const float* a, const float* b, Term term,
                               double* partials) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = fours_of(count, a, b);
    double sum = 0, other = 0;
#pragma unroll 4
    for (std::size_t i = first; i < fours; i += stride) {
        const float4 p = reinterpret_cast<const float4*>(a)[i];
        const float4 q = reinterpret_cast<const float4*>(b)[i];
        sum += term(p.x, q.x) + term(p.y, q.y);
        other += term(p.z, q.z) + term(p.w, q.w);
    }
    for (std::size_t i = 4 * fours + first; i < count; i += stride) sum += term(a[i], b[i]);
    sum = block_sum(sum + other);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// Sums of term(a[i], b[i]); `b` may be `a`.
template <class Term>
void partial_sums(const Queue& queue, std::size_t count, const float* a, const float* b,
                  const Term& term, double* partials) {
    partial_kernel<<<kPartials, kThreads, 0, queue.stream>>>(count, a, b, term, partials);
    check(cudaGetLastError(), "starting a kernel");
}

/// Of a block of kThreads = kPartials threads.
__device__ double sum_of_partials(const double* partials) {
    static_assert(kThreads == kPartials);
    return block_sum(partials[threadIdx.x]);
}

__global__ void finish_kernel(const double* partials, std::size_t count, bool accumulate,
                              double* total) {
    double sum = 0;
    for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) sum += partials[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *total = accumulate ? *total + sum : sum;
}

__global__ void adam_kernel(AdamArgs a) {
    float factor = 1;
    if (a.partials != nullptr) {
        const double norm = sqrt(sum_of_partials(a.partials));
        if (norm > a.step.clip) factor = static_cast<float>(a.step.clip / norm);
    }
    const float beta1 = a.step.beta1, beta2 = a.step.beta2;
    double sum = 0;
    const auto moved = [&](float value, float gradient, float& m1, float& m2) {
        const float g = factor * gradient;
        sum += double{value < 0 ? -gradient : gradient};
        m1 = fmaf(beta1, m1, (1 - beta1) * g);
        m2 = fmaf(beta2, m2, (1 - beta2) * (g * g));
        return value - a.step.rate * a.correct1 * m1 / (sqrtf(a.correct2 * m2) + a.step.epsilon);
    };
    if (a.logarithm) {
        if (blockIdx.x != 0 || threadIdx.x != 0) return;
        factor = a.values[0];
        a.values[0] = expf(moved(logf(a.values[0]), a.gradient[0], a.first[0], a.second[0]));
        return;
    }
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = fours_of(a.count, a.values, a.gradient, a.first, a.second);
    for (std::size_t i = first; i < fours; i += stride) {
        float4 v = reinterpret_cast<float4*>(a.values)[i];
        const float4 g = reinterpret_cast<const float4*>(a.gradient)[i];
        float4 m1 = reinterpret_cast<float4*>(a.first)[i];
        float4 m2 = reinterpret_cast<float4*>(a.second)[i];
        v.x = moved(v.x, g.x, m1.x, m2.x);
        v.y = moved(v.y, g.y, m1.y, m2.y);
        v.z = moved(v.z, g.z, m1.z, m2.z);
        v.w = moved(v.w, g.w, m1.w, m2.w);
        reinterpret_cast<float4*>(a.values)[i] = v;
        reinterpret_cast<float4*>(a.first)[i] = m1;
        reinterpret_cast<float4*>(a.second)[i] = m2;
    }
    for (std::size_t i = 4 * fours + first; i < a.count; i += stride)
        a.values[i] = moved(a.values[i], a.gradient[i], a.first[i], a.second[i]);
    if (a.sign_dots == nullptr) return;
    sum = block_sum(sum);
    if (threadIdx.x == 0) a.sign_dots[blockIdx.x] = sum;
}

__device__ float to_level(const QuantiseArgs& q, float value, float scale) {
    if (q.signs_only) return value < 0 ? -scale : scale;
    if (!(scale > 0)) return 0;
    const float number = value / scale;
    std::size_t i = 0;
    while (i + 1 < q.level_count) {
        const float middle = 0.5F * (q.levels[i] + q.levels[i + 1]);
        if (middle >= 0 ? number < middle : number <= middle) break;
        ++i;
    }
    return scale * q.levels[i];
}

__global__ void quantise_kernel(QuantiseArgs q, const float* scale, const double* partials,
                                std::size_t count) {
    const float s = partials != nullptr
                        ? static_cast<float>(sum_of_partials(partials) / static_cast<double>(count))
                        : *scale;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = fours_of(count, q.latent, q.effective);
    for (std::size_t i = first; i < fours; i += stride) {
        const float4 v = reinterpret_cast<const float4*>(q.latent)[i];
        reinterpret_cast<float4*>(q.effective)[i] = {to_level(q, v.x, s), to_level(q, v.y, s),
                                                     to_level(q, v.z, s), to_level(q, v.w, s)};
    }
    for (std::size_t i = 4 * fours + first; i < count; i += stride)
        q.effective[i] = to_level(q, q.latent[i], s);
}

__global__ void quantise_columns_kernel(QuantiseArgs q, const unsigned* offsets, std::size_t rows) {
    const std::size_t j = blockIdx.x;
    const std::size_t begin = offsets != nullptr ? offsets[j] : j * rows;
    const std::size_t end = offsets != nullptr ? offsets[j + 1] : (j + 1) * rows;
    double sum = 0;
    for (std::size_t l = begin + threadIdx.x; l < end; l += blockDim.x) sum += fabsf(q.latent[l]);
    const auto scale = static_cast<float>(block_sum(sum) / static_cast<double>(end - begin));
    for (std::size_t l = begin + threadIdx.x; l < end; l += blockDim.x)
        q.effective[l] = to_level(q, q.latent[l], scale);
}

/// The twin of link l of the left half, and its sign.
struct Twin {
    std::size_t second;
    float sign;
};
__device__ Twin twin_of(std::size_t l, std::size_t rows, std::size_t half) {
    const std::size_t m = rows / 2;
    const bool imaginary = l % rows >= m;
    return {half + (imaginary ? l - m : l + m), imaginary ? -1.0F : 1.0F};
}

}  // namespace

void fill(const Queue& queue, float value, float* values, std::size_t count) {
    for_each(queue, count, [=] __device__(std::size_t i) { values[i] = value; });
}

void multiply(const Queue& queue, float factor, float* values, std::size_t count) {
    change_each(queue, count, values, values,
                [=] __device__(float value, float) { return value * factor; });
}

void keep_at_least(const Queue& queue, float least, float* values, std::size_t count) {
    // A NaN stays one, so that it is found.
    change_each(queue, count, values, values,
                [=] __device__(float value, float) { return value < least ? least : value; });
}

void average(const Queue& queue, float share, const float* values, float* mean, std::size_t count) {
    change_each(queue, count, values, mean, [=] __device__(float value, float so_far) {
        return fmaf(share, value - so_far, so_far);
    });
}

void add(const Queue& queue, const float* part, float* total, std::size_t count) {
    change_each(queue, count, part, total,
                [=] __device__(float value, float so_far) { return so_far + value; });
}

void partial_squares(const Queue& queue, const float* values, std::size_t count, double* partials) {
    partial_sums(
        queue, count, values, values,
        [=] __device__(float value, float) { return double{value} * double{value}; }, partials);
}

void partial_sign_dots(const Queue& queue, const float* gradient, const float* latent,
                       std::size_t count, double* partials) {
    partial_sums(
        queue, count, gradient, latent,
        [=] __device__(float g, float weight) { return double{weight < 0 ? -g : g}; }, partials);
}

void partial_magnitudes(const Queue& queue, const float* values, std::size_t count,
                        double* partials) {
    partial_sums(
        queue, count, values, values,
        [=] __device__(float value, float) { return double{fabsf(value)}; }, partials);
}

void finish_sum(const Queue& queue, const double* partials, std::size_t count, bool accumulate,
                double* total) {
    finish_kernel<<<1, kThreads, 0, queue.stream>>>(partials, count, accumulate, total);
    check(cudaGetLastError(), "starting a kernel");
}

void to_float(const Queue& queue, const double* value, float* to) {
    for_each(queue, 1, [=] __device__(std::size_t) { *to = static_cast<float>(*value); });
}

unsigned adam_blocks(std::size_t count) { return blocks_for((count + 3) / 4); }

void adam(const Queue& queue, const AdamArgs& args) {
    if (args.count == 0) return;
    adam_kernel<<<args.logarithm ? 1 : adam_blocks(args.count), kThreads, 0, queue.stream>>>(args);
    check(cudaGetLastError(), "starting a kernel");
}

void quantise(const Queue& queue, const QuantiseArgs& args, const float* scale,
              const double* partials, std::size_t count) {
    if (count == 0) return;
    quantise_kernel<<<blocks_for((count + 3) / 4), kThreads, 0, queue.stream>>>(args, scale,
                                                                                partials, count);
    check(cudaGetLastError(), "starting a kernel");
}

void quantise_columns(const Queue& queue, const QuantiseArgs& args, const unsigned* offsets,
                      std::size_t rows, std::size_t columns) {
    quantise_columns_kernel<<<static_cast<unsigned>(columns), kThreads, 0, queue.stream>>>(
        args, offsets, rows);
    check(cudaGetLastError(), "starting a kernel");
}

void average_pairs(const Queue& queue, std::size_t rows, float* links, std::size_t count) {
    for_each(queue, count / 2, [=] __device__(std::size_t l) {
        const Twin twin = twin_of(l, rows, count / 2);
        links[l] = (links[l] + twin.sign * links[twin.second]) / 2;
        links[twin.second] = twin.sign * links[l];
    });
}

void copy_pairs(const Queue& queue, std::size_t rows, float* links, std::size_t count) {
    for_each(queue, count / 2, [=] __device__(std::size_t l) {
        const Twin twin = twin_of(l, rows, count / 2);
        links[twin.second] = twin.sign > 0 ? links[l] : 0.0F - links[l];
    });
}

void move_towards_levels(const Queue& queue, const float* level, float strength, float* weights,
                         std::size_t count) {
    change_each(queue, count, weights, weights, [=] __device__(float w, float) {
        const float target = w < 0 ? -*level : *level;
        return w + fminf(fmaxf(target - w, -strength), strength);
    });
}

void scatter(const Queue& queue, const float* links, const unsigned* places, std::size_t count,
             float* dense) {
    for_each(queue, count, [=] __device__(std::size_t l) { dense[places[l]] = links[l]; });
}

void gather(const Queue& queue, const float* dense, const unsigned* places, std::size_t count,
            bool accumulate, float* links) {
    for_each(queue, count, [=] __device__(std::size_t l) {
        links[l] = accumulate ? links[l] + dense[places[l]] : dense[places[l]];
    });
}

}  // namespace pibinn::cuda
