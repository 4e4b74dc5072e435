#pragma once

#include "algebra/cuda/device.cuh"
#include "pibinn/matrix.hpp"

namespace pibinn::cuda {

/// Host memory may be used again when these return.
template <class T>
void upload(const Queue& queue, const T* from, std::size_t count, T* to) {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, queue.stream),
          "copying to it");
    check(cudaStreamSynchronize(queue.stream), "copying to it");
}

template <class T>
void download(const Queue& queue, const T* from, std::size_t count, T* to) {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, queue.stream),
          "copying from it");
    check(cudaStreamSynchronize(queue.stream), "copying from it");
}

/// Rows of a batch, which have no gaps on the device.
inline void download_rows(const Queue& queue, const float* from, BatchView to) {
    if (to.rows == 0 || to.cols == 0) return;
    check(cudaMemcpy2DAsync(to.data, to.stride * sizeof(float), from, to.cols * sizeof(float),
                            to.cols * sizeof(float), to.rows, cudaMemcpyDeviceToHost, queue.stream),
          "copying a batch from it");
    check(cudaStreamSynchronize(queue.stream), "copying a batch from it");
}

}  // namespace pibinn::cuda
