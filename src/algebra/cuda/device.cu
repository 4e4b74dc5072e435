#include "algebra/cuda/device.cuh"

#include <string>

#include "pibinn/error.hpp"

namespace pibinn::cuda {

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    if (status == cudaErrorMemoryAllocation) {
        std::size_t free = 0, total = 0;
        cudaMemGetInfo(&free, &total);
        throw Error(ErrorKind::failed,
                    "the CUDA device has no memory left (" + std::to_string(free >> 20) + " of " +
                        std::to_string(total >> 20) + " MiB free) " + what,
                    "use a smaller batch or network, or the processor");
    }
    throw Error(ErrorKind::failed,
                std::string("the CUDA device failed ") + what + ": " + cudaGetErrorString(status),
                "run it again; a training goes on from its last checkpoint");
}

void check(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw Error(ErrorKind::failed,
                std::string("cuBLAS failed ") + what + ": " + cublasGetStatusString(status),
                "run it again; a training goes on from its last checkpoint");
}

std::size_t most_shared_memory() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device), "asking for the device");
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "asking for its shared memory");
    return static_cast<std::size_t>(bytes);
}

Queue::Queue(bool tf32)
    : compute_(tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC),
      constants_(2),
      workspace_(kBlasWorkspace) {
    const float values[2] = {0, 1};
    check(cudaMemcpy(constants_.data(), values, sizeof(values), cudaMemcpyHostToDevice),
          "writing constants");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    check(cublasCreate(&blas_), "starting");
    check(cublasSetStream(blas_, stream), "taking a stream");
    check(cublasSetPointerMode(blas_, CUBLAS_POINTER_MODE_DEVICE), "setting its pointers");
    check(cublasSetWorkspace(blas_, workspace_.data(), kBlasWorkspace), "taking its workspace");
}

Queue::~Queue() {
    if (stream != nullptr) cudaStreamSynchronize(stream);
    if (blas_ != nullptr) cublasDestroy(blas_);
    if (stream != nullptr) cudaStreamDestroy(stream);
}

void Queue::multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n,
                     std::size_t k, const float* alpha, const float* a, std::size_t lda,
                     const float* b, std::size_t ldb, bool accumulate, float* c,
                     std::size_t ldc) const {
    multiply(transpose_a, transpose_b, m, n, k, alpha, {a, b, CUDA_R_32F, compute_}, lda, ldb,
             accumulate, c, ldc);
}

void Queue::multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n,
                     std::size_t k, const float* alpha, const __half* a, std::size_t lda,
                     const __half* b, std::size_t ldb, bool accumulate, float* c,
                     std::size_t ldc) const {
    multiply(transpose_a, transpose_b, m, n, k, alpha, {a, b, CUDA_R_16F, CUBLAS_COMPUTE_32F}, lda,
             ldb, accumulate, c, ldc);
}

void Queue::multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n,
                     std::size_t k, const float* alpha, const Factors& factors, std::size_t lda,
                     std::size_t ldb, bool accumulate, float* c, std::size_t ldc) const {
    const auto size = [](std::size_t value) { return static_cast<int>(value); };
    const auto flip = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const float* zero = constants_.data();
    const float* one = zero + 1;
    check(cublasGemmEx(blas_, flip(transpose_a), flip(transpose_b), size(m), size(n), size(k),
                       alpha != nullptr ? alpha : one, factors.a, factors.type, size(lda),
                       factors.b, factors.type, size(ldb), accumulate ? one : zero, c, CUDA_R_32F,
                       size(ldc), factors.compute, CUBLAS_GEMM_DEFAULT),
          "multiplying");
}

}  // namespace pibinn::cuda
