#pragma once

#include <cstddef>

#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "algebra/buffer.hpp"

namespace pibinn::cuda {

/// Throw an error that tells what the device said; `what` is what was being done.
void check(cudaError_t status, const char* what);
void check(cublasStatus_t status, const char* what);

/// Device memory, all zero. Grows on demand and then forgets what it held.
template <class T>
class DeviceArray {
public:
    DeviceArray() = default;
    explicit DeviceArray(std::size_t count) : DeviceArray() { reserve(count); }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(DeviceArray&& other) noexcept : data_(other.data_), count_(other.count_) {
        other.data_ = nullptr;
        other.count_ = 0;
    }
    DeviceArray& operator=(DeviceArray&&) = delete;

    void reserve(std::size_t count) {
        if (count <= count_) return;
        cudaFree(data_);
        data_ = nullptr;
        count_ = 0;
        check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)),
              "taking memory for a network");
        check(cudaMemset(data_, 0, count * sizeof(T)), "clearing memory");
        // Streams of ours do not wait for it by themselves.
        check(cudaStreamSynchronize(cudaStreamLegacy), "clearing memory");
        count_ = count;
    }
    T* data() const { return data_; }
    std::size_t size() const { return count_; }

private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

class CudaBuffer final : public Buffer {
public:
    explicit CudaBuffer(std::size_t count) : values(count) {}
    DeviceArray<float> values;
};

/// Where a view's numbers are; null of an empty one.
inline float* numbers(BufferView view) {
    return view.empty() ? nullptr
                        : static_cast<CudaBuffer*>(view.buffer)->values.data() + view.offset;
}
inline const float* numbers(ConstBufferView view) {
    return view.empty() ? nullptr
                        : static_cast<const CudaBuffer*>(view.buffer)->values.data() + view.offset;
}

/// The queue that everything of one backend goes through, in order.
struct Queue {
    explicit Queue(bool tf32);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    /// C = alpha op(A) op(B) + beta C of column-major matrices, C of m x n. `alpha` is one number
    /// on the device; null stands for 1.
    void multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
                  const float* alpha, const float* a, std::size_t lda, const float* b,
                  std::size_t ldb, bool accumulate, float* c, std::size_t ldc) const;
    /// The same of factors in float16; sums in float32.
    void multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
                  const float* alpha, const __half* a, std::size_t lda, const __half* b,
                  std::size_t ldb, bool accumulate, float* c, std::size_t ldc) const;
    /// Whether products may round their factors to 11 digits.
    bool tf32() const { return compute_ == CUBLAS_COMPUTE_32F_FAST_TF32; }

    cudaStream_t stream = nullptr;

private:
    struct Factors {
        const void *a, *b;
        cudaDataType type;
        cublasComputeType_t compute;
    };
    void multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
                  const float* alpha, const Factors& factors, std::size_t lda, std::size_t ldb,
                  bool accumulate, float* c, std::size_t ldc) const;

    cublasHandle_t blas_ = nullptr;
    cublasComputeType_t compute_;
    DeviceArray<float> constants_;  ///< 0, 1
    DeviceArray<char> workspace_;   ///< of cuBLAS, which so gives the same sums every time
};

constexpr unsigned kThreads = 256;
constexpr unsigned kMostThreads = 512;  ///< of a block
constexpr std::size_t kBlasWorkspace = std::size_t{32} << 20;

/// The most shared memory that a block of threads may ask for, in bytes.
std::size_t most_shared_memory();

/// Over the threads of a warp, for every thread.
__device__ inline float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffU, value, offset);
    return value;
}
__device__ inline float warp_max(float value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, offset));
    return value;
}

constexpr std::size_t kMostBlocks = 132 * 16;
inline unsigned blocks_for(std::size_t count) {
    const std::size_t blocks = (count + kThreads - 1) / kThreads;
    return static_cast<unsigned>(blocks < kMostBlocks ? (blocks > 0 ? blocks : 1) : kMostBlocks);
}

// Slices of the parameters start anywhere, so that only some can be read by fours, sixteen bytes at
// a time. Plain loads of four bytes reach a third of the memory's speed.
template <class... Pointers>
__device__ std::size_t fours_of(std::size_t count, Pointers... pointers) {
    return (... && (reinterpret_cast<std::size_t>(pointers) % 16 == 0)) ? count / 4 : 0;
}

/// The sum over all threads of a block, for every thread. One order, whatever runs beside it.
template <class T>
__device__ T block_sum(T value) {
    __shared__ T parts[kMostThreads / 32];
    __shared__ T total;
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffU, value, offset);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        T sum = parts[0];
        for (unsigned w = 1; w < blockDim.x / 32; ++w) sum += parts[w];
        total = sum;
    }
    __syncthreads();
    const T result = total;
    __syncthreads();
    return result;
}

}  // namespace pibinn::cuda
