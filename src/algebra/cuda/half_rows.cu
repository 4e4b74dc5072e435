#include "algebra/cuda/half_rows.cuh"

#include <cmath>

namespace pibinn::cuda {

namespace {

constexpr int kLargestExponent = 15;  // of 2^15, half of what float16 holds
constexpr unsigned kMaximumBlocks = kThreads;

__device__ unsigned block_max(unsigned value) {
    __shared__ unsigned parts[kThreads / 32];
    value = __reduce_max_sync(0xffffffffU, value);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    unsigned largest = 0;
    for (const unsigned part : parts) largest = max(largest, part);
    return largest;
}

/// Bits of magnitudes are in the order of the magnitudes, and those of a NaN come last.
__device__ unsigned magnitude(float value) { return __float_as_uint(value) & 0x7fffffffU; }

__global__ void largest_kernel(const float* from, std::size_t count, unsigned* largest) {
    unsigned most = 0;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count / 4;
         i += stride) {
        const float4 v = reinterpret_cast<const float4*>(from)[i];
        most = max(max(max(most, magnitude(v.x)), max(magnitude(v.y), magnitude(v.z))),
                   magnitude(v.w));
    }
    if (blockIdx.x == 0 && threadIdx.x < count % 4)
        most = max(most, magnitude(from[count - 1 - threadIdx.x]));
    most = block_max(most);
    if (threadIdx.x == 0) largest[blockIdx.x] = most;
}

__device__ void halve(const float* from, std::size_t count, float scale, __half* to) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = fours_of(count, from);
    for (std::size_t i = first; i < fours; i += stride) {
        const float4 v = reinterpret_cast<const float4*>(from)[i];
        const __half2 pairs[2] = {__floats2half2_rn(scale * v.x, scale * v.y),
                                  __floats2half2_rn(scale * v.z, scale * v.w)};
        reinterpret_cast<uint2*>(to)[i] = *reinterpret_cast<const uint2*>(pairs);
    }
    for (std::size_t i = 4 * fours + first; i < count; i += stride)
        to[i] = __float2half_rn(scale * from[i]);
}

__global__ void halve_kernel(const float* from, std::size_t count, float scale, __half* to) {
    halve(from, count, scale, to);
}

struct Units {
    const unsigned* largest;
    float matrix_unit;
    const float *others, *step;
    float* units;
};

__global__ void halve_rows_kernel(const float* from, std::size_t count, Units u, __half* to) {
    const unsigned largest = block_max(u.largest[threadIdx.x]);
    // 2^exponent <= largest < 2^(exponent + 1). Rows of zeros and those that overflowed are only to
    // stay what they are.
    const int exponent = static_cast<int>(largest >> 23) - 127;
    const bool usual = exponent > -100 && exponent < 100;
    const int up = usual ? kLargestExponent - 1 - exponent : 0;
    halve(from, count, ldexpf(1.0F, up), to);
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    const float unit = ldexpf(1.0F, -up);
    u.units[0] = unit;
    u.units[1] = unit * u.matrix_unit;
    if (u.others != nullptr) u.units[2] = unit * *u.others * (u.step != nullptr ? *u.step : 1.0F);
}

}  // namespace

float half_scale(float largest) {
    int exponent = 0;
    if (std::isfinite(largest)) std::frexp(largest, &exponent);  // largest < 2^exponent
    return std::ldexp(1.0F, 4 - exponent);
}

void halve_matrix(const Queue& queue, const float* from, std::size_t count, float scale,
                  __half* to) {
    halve_kernel<<<blocks_for((count + 3) / 4), kThreads, 0, queue.stream>>>(from, count, scale,
                                                                             to);
    check(cudaGetLastError(), "starting a kernel");
}

void HalfRows::reserve(std::size_t count) {
    values_.reserve(count);
    units_.reserve(3);
    largest_.reserve(kMaximumBlocks);
}

void HalfRows::assign(const Queue& queue, const float* from, std::size_t count,
                      float matrix_scale) {
    assign(queue, from, count, matrix_scale, nullptr, nullptr);
}

void HalfRows::assign(const Queue& queue, const float* from, std::size_t count, float matrix_scale,
                      const HalfRows& others, const float* step) {
    assign(queue, from, count, matrix_scale, others.unit(), step);
}

void HalfRows::assign(const Queue& queue, const float* from, std::size_t count, float matrix_scale,
                      const float* others, const float* step) {
    largest_kernel<<<kMaximumBlocks, kThreads, 0, queue.stream>>>(from, count, largest_.data());
    check(cudaGetLastError(), "starting a kernel");
    halve_rows_kernel<<<blocks_for((count + 3) / 4), kThreads, 0, queue.stream>>>(
        from, count, {largest_.data(), 1 / matrix_scale, others, step, units_.data()},
        values_.data());
    check(cudaGetLastError(), "starting a kernel");
}

}  // namespace pibinn::cuda
