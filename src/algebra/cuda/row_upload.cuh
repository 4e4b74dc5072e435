#pragma once

#include <cstring>
#include <span>

#include "algebra/cuda/device.cuh"
#include "pibinn/matrix.hpp"

namespace pibinn::cuda {

inline ConstBatchView one_row(std::span<const float> numbers) {
    return {numbers.data(), 1, numbers.size(), numbers.size()};
}

/// Sends rows to the device without waiting for what it still does: they go through memory that the
/// device reads by itself. Ordinary memory holds the host up until the device is idle.
class RowUpload {
public:
    RowUpload() = default;
    ~RowUpload() {
        cudaFreeHost(staged_);
        if (sent_ != nullptr) cudaEventDestroy(sent_);
    }
    RowUpload(const RowUpload&) = delete;
    RowUpload& operator=(const RowUpload&) = delete;

    /// Without gaps. `from` may be used again when this returns.
    void send(const Queue& queue, ConstBatchView from, float* to) {
        const std::size_t count = from.rows * from.cols;
        if (count == 0) return;
        if (sent_ == nullptr)
            check(cudaEventCreateWithFlags(&sent_, cudaEventDisableTiming), "making an event");
        else
            check(cudaEventSynchronize(sent_), "copying a batch to it");
        reserve(count);
        for (std::size_t i = 0; i < from.rows; ++i)
            std::memcpy(staged_ + i * from.cols, from.row(i).data(), from.cols * sizeof(float));
        check(cudaMemcpyAsync(to, staged_, count * sizeof(float), cudaMemcpyHostToDevice,
                              queue.stream),
              "copying a batch to it");
        check(cudaEventRecord(sent_, queue.stream), "copying a batch to it");
    }

private:
    void reserve(std::size_t count) {
        if (count <= count_) return;
        cudaFreeHost(staged_);
        staged_ = nullptr;
        count_ = 0;
        check(cudaMallocHost(reinterpret_cast<void**>(&staged_), count * sizeof(float)),
              "taking memory for a batch");
        count_ = count;
    }

    float* staged_ = nullptr;
    std::size_t count_ = 0;
    cudaEvent_t sent_ = nullptr;  ///< the last rows have left
};

}  // namespace pibinn::cuda
