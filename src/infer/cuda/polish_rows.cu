#include "algebra/cuda/device.cuh"
#include "algebra/polish.hpp"
#include "infer/cuda/block_network.cuh"

namespace pibinn::cuda {

namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kAll = 0xffffffffU;

/// A power of two near the largest, as polish_unit says.
__device__ float unit_of(float most) {
    if (most == 0 || !isfinite(most)) return 1;
    int exponent = ilogbf(most);
    exponent = exponent < -100 ? -100 : (exponent > 100 ? 100 : exponent);
    return ldexpf(1.0F, exponent);
}

/// The support of one row and the vectors of conjugate gradients, in shared memory.
struct Workspace {
    unsigned* support;
    float *found, *p, *s;  ///< on the support
    float *r, *q;          ///< of measurements
};

/// q = A_S values
__device__ void apply(const PolishArgs& a, const Workspace& w, unsigned count, float per_a,
                      const float* values, float* q) {
    for (std::size_t i = threadIdx.x; i < a.m; i += kWarp) {
        float sum = 0;
        for (unsigned e = 0; e < count; ++e)
            sum = fmaf(a.a[w.support[e] * a.m + i], values[e], sum);
        q[i] = per_a * sum;
    }
    __syncwarp();
}

/// s = A_S^T r, and its squared norm.
__device__ float adjoint(const PolishArgs& a, const Workspace& w, unsigned count, float per_a) {
    float squares = 0;
    for (unsigned e = 0; e < count; ++e) {
        const float* column = a.a + w.support[e] * a.m;
        float sum = 0;
        for (std::size_t i = threadIdx.x; i < a.m; i += kWarp) sum = fmaf(column[i], w.r[i], sum);
        sum = per_a * warp_sum(sum);
        if (threadIdx.x == 0) w.s[e] = sum;
        squares = fmaf(sum, sum, squares);
    }
    __syncwarp();
    return squares;
}

__device__ float squared(const float* values, std::size_t count) {
    float sum = 0;
    for (std::size_t i = threadIdx.x; i < count; i += kWarp) sum = fmaf(values[i], values[i], sum);
    return warp_sum(sum);
}

/// Lists |x_i| > cut max|x|; more than `most` entries are not wanted, nor is what is no number.
__device__ unsigned list_support(const PolishArgs& a, const float* x, std::size_t most,
                                 unsigned* support) {
    float largest = 0;
    bool finite = true;
    for (std::size_t j = threadIdx.x; j < a.n; j += kWarp) {
        finite = finite && isfinite(x[j]);
        largest = fmaxf(largest, fabsf(x[j]));
    }
    if (!__all_sync(kAll, finite)) return 0;
    const float least = a.cut * warp_max(largest);
    unsigned count = 0;
    for (std::size_t first = 0; first < a.n; first += kWarp) {
        const std::size_t j = first + threadIdx.x;
        const bool in = j < a.n && fabsf(x[j]) > least;
        const unsigned mask = __ballot_sync(kAll, in);
        const unsigned place = count + __popc(mask & ((1U << threadIdx.x) - 1));
        if (in && place < most) support[place] = static_cast<unsigned>(j);
        count += __popc(mask);
    }
    __syncwarp();
    return count <= most ? count : 0;
}

__global__ void polish_kernel(PolishArgs a, BlockRows rows, std::size_t most) {
    extern __shared__ float memory[];
    const Workspace w{reinterpret_cast<unsigned*>(memory),
                      memory + most,
                      memory + 2 * most,
                      memory + 3 * most,
                      memory + 4 * most,
                      memory + 4 * most + a.m};
    const float* y = rows.y + blockIdx.x * rows.y_stride;
    float* x = rows.x + blockIdx.x * rows.x_stride;
    const unsigned count = list_support(a, x, most, w.support);
    if (count == 0) return;

    float largest = 0;
    for (std::size_t i = threadIdx.x; i < a.m; i += kWarp) largest = fmaxf(largest, fabsf(y[i]));
    const float y_unit = unit_of(warp_max(largest)), per_a = 1 / a.a_unit;
    for (unsigned e = threadIdx.x; e < count; e += kWarp)
        w.found[e] = x[w.support[e]] / y_unit / per_a;
    __syncwarp();
    apply(a, w, count, per_a, w.found, w.q);
    for (std::size_t i = threadIdx.x; i < a.m; i += kWarp) w.r[i] = y[i] / y_unit - w.q[i];
    __syncwarp();
    float gamma = adjoint(a, w, count, per_a);
    for (unsigned e = threadIdx.x; e < count; e += kWarp) w.p[e] = w.s[e];
    __syncwarp();
    float columns = 0;
    for (unsigned e = 0; e < count; ++e) columns += squared(a.a + w.support[e] * a.m, a.m);
    const float enough = kPolished * gamma, rounded = kRounded * per_a * per_a * columns;
    for (std::size_t step = 0;
         step < a.steps && gamma > enough && gamma > rounded * squared(w.r, a.m); ++step) {
        apply(a, w, count, per_a, w.p, w.q);
        const float alpha = gamma / squared(w.q, a.m);
        if (!isfinite(alpha)) break;  // columns that cancel
        for (unsigned e = threadIdx.x; e < count; e += kWarp)
            w.found[e] = fmaf(alpha, w.p[e], w.found[e]);
        for (std::size_t i = threadIdx.x; i < a.m; i += kWarp)
            w.r[i] = fmaf(-alpha, w.q[i], w.r[i]);
        __syncwarp();
        const float next = adjoint(a, w, count, per_a);
        for (unsigned e = threadIdx.x; e < count; e += kWarp)
            w.p[e] = fmaf(next / gamma, w.p[e], w.s[e]);
        __syncwarp();
        gamma = next;
    }
    for (std::size_t j = threadIdx.x; j < a.n; j += kWarp) x[j] = 0;
    __syncwarp();
    for (unsigned e = threadIdx.x; e < count; e += kWarp)
        x[w.support[e]] = w.found[e] * y_unit * per_a;
}

}  // namespace

std::size_t polish_memory(std::size_t m, std::size_t n) {
    return (4 * (m < n ? m : n) + 2 * m) * sizeof(float);
}

void polish_rows(const PolishArgs& args, const BlockRows& rows, cudaStream_t stream) {
    if (rows.rows == 0 || args.steps == 0) return;
    const std::size_t most = args.m < args.n ? args.m : args.n;
    const std::size_t bytes = polish_memory(args.m, args.n);
    check(cudaFuncSetAttribute(polish_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "taking shared memory for polish");
    polish_kernel<<<static_cast<unsigned>(rows.rows), kWarp, bytes, stream>>>(args, rows, most);
    check(cudaGetLastError(), "starting a kernel");
}

}  // namespace pibinn::cuda
