#include <algorithm>
#include <cstring>
#include <vector>

#include "algebra/cuda/device.cuh"
#include "infer/cuda/block_network.cuh"
#include "pibinn/error.hpp"

namespace pibinn::cuda {

namespace {

constexpr std::size_t kSlots = 2;  ///< one is copied while the other is worked on
constexpr std::size_t kSlotBytes = std::size_t{16} << 20;

/// Host memory that a device copies from without help of the processor.
class PinnedArray {
public:
    PinnedArray() = default;
    ~PinnedArray() { cudaFreeHost(data_); }
    PinnedArray(const PinnedArray&) = delete;
    PinnedArray& operator=(const PinnedArray&) = delete;

    void reserve(std::size_t count) {
        if (count <= count_) return;
        cudaFreeHost(data_);
        data_ = nullptr;
        count_ = 0;
        if (cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(float)) !=
            cudaSuccess) {
            cudaGetLastError();
            throw Error(ErrorKind::failed, "no host memory left that a device could copy from",
                        "recover fewer rows at a time");
        }
        count_ = count;
    }
    float* data() const { return data_; }

private:
    float* data_ = nullptr;
    std::size_t count_ = 0;
};

/// The networks of all blocks, with working memory of their own.
class Blocks {
public:
    explicit Blocks(const DeviceNetwork& network) : polish_(network.polish), cut_(network.cut) {
        for (const DeviceBlock& block : network.blocks) {
            auto runs = resident_network(network, block);
            if (!runs) runs = sign_network(network, block);
            if (!runs) runs = layered_network(network, block);
            blocks_.push_back({std::move(runs), block.row, block.col, block.m, block.n, {}, 1});
            Entry& entry = blocks_.back();
            if (polish_ == 0) continue;
            if (polish_memory(block.m, block.n) > most_shared_memory())
                fail_usage("polish of " + std::to_string(block.m) + " x " +
                               std::to_string(block.n) + " does not fit the CUDA device",
                           "choose a kernel of the processor, such as auto");
            entry.unit = block.a_unit;
            entry.a.reserve(block.a.size());
            check(cudaMemcpy(entry.a.data(), block.a.data(), block.a.size() * sizeof(float),
                             cudaMemcpyHostToDevice),
                  "copying an operator");
        }
    }

    void recover(const BlockRows& rows, std::size_t layers, cudaStream_t stream) {
        for (const Entry& block : blocks_) {
            BlockRows own = rows;
            own.y += block.row;
            own.x += block.col;
            if (own.every_layer != nullptr) own.every_layer += block.col;
            block.network->recover(own, stream);
            if (polish_ == 0) continue;
            polish_rows({.a = block.a.data(),
                         .m = block.m,
                         .n = block.n,
                         .a_unit = block.unit,
                         .steps = polish_,
                         .cut = cut_},
                        own, stream);
            if (own.every_layer != nullptr)
                check(cudaMemcpy2DAsync(own.every_layer + (layers - 1) * rows.layer_stride,
                                        rows.x_stride * sizeof(float), own.x,
                                        rows.x_stride * sizeof(float), block.n * sizeof(float),
                                        rows.rows, cudaMemcpyDeviceToDevice, stream),
                      "copying rows");
        }
    }

    std::string kernel() const { return blocks_.front().network->kernel(); }

private:
    struct Entry {
        std::unique_ptr<BlockNetwork> network;
        std::size_t row, col, m, n;
        DeviceArray<float> a;
        float unit;
    };
    std::vector<Entry> blocks_;
    std::size_t polish_;
    float cut_;
};

/// Part of a batch on its way to the device, through the network and back.
struct Slot {
    explicit Slot(const DeviceNetwork& network) : blocks(network) {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    }
    ~Slot() {
        if (stream == nullptr) return;
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    }

    Blocks blocks;
    cudaStream_t stream = nullptr;
    PinnedArray y_here, x_here;
    DeviceArray<float> y, x;
    std::size_t first = 0, rows = 0;  ///< of the batch; no rows where it is idle
};

class CudaRecovery final : public DeviceRecovery {
public:
    explicit CudaRecovery(const DeviceNetwork& network)
        : layers_(network.layers), repeat_(network.repeat) {
        for (const DeviceBlock& block : network.blocks) {
            m_ += block.m;
            n_ += block.n;
        }
        for (std::size_t s = 0; s < kSlots; ++s) slots_.push_back(std::make_unique<Slot>(network));
    }

    void recover(ConstBatchView y, BatchView x, float* every_layer) override {
        for (const auto& slot : slots_) forget(*slot);
        const std::size_t copies = every_layer != nullptr ? layers_ + 1 : 1;
        const std::size_t row_bytes = repeat_ * (m_ + copies * n_) * sizeof(float);
        const std::size_t most = std::max<std::size_t>(kSlotBytes / row_bytes, 1);
        std::size_t turn = 0;
        for (std::size_t first = 0; first < y.rows; first += most, turn ^= 1) {
            Slot& slot = *slots_[turn];
            finish(slot, x, every_layer);
            begin(slot, y.row_range(first, std::min(first + most, y.rows)), first, copies);
        }
        for (std::size_t s = 0; s < kSlots; ++s, turn ^= 1) finish(*slots_[turn], x, every_layer);
    }

    double seconds_on_device(ConstBatchView y, std::size_t rows, std::size_t turns) override {
        ensure(y.rows > 0 && turns > 0, "rows to measure");
        Slot& slot = *slots_.front();
        const std::size_t width = repeat_ * m_;
        DeviceArray<float> from(rows * width), to(rows * repeat_ * n_);
        for (std::size_t i = 0; i < rows; ++i)
            check(cudaMemcpyAsync(from.data() + i * width, y.row(i % y.rows).data(),
                                  width * sizeof(float), cudaMemcpyHostToDevice, slot.stream),
                  "copying rows");
        cudaEvent_t start, stop;
        check(cudaEventCreate(&start), "making a clock");
        check(cudaEventCreate(&stop), "making a clock");
        std::vector<float> times;
        for (std::size_t turn = 0; turn <= turns; ++turn) {
            check(cudaEventRecord(start, slot.stream), "reading the clock");
            slot.blocks.recover(plain_rows(rows, from.data(), to.data(), nullptr), layers_,
                                slot.stream);
            check(cudaEventRecord(stop, slot.stream), "reading the clock");
            check(cudaEventSynchronize(stop), "recovering");
            float milliseconds = 0;
            check(cudaEventElapsedTime(&milliseconds, start, stop), "reading the clock");
            if (turn > 0) times.push_back(milliseconds);
        }
        cudaEventDestroy(start);
        cudaEventDestroy(stop);
        std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
        return 1e-3 * times[times.size() / 2];
    }

    std::string kernel() const override { return slots_.front()->blocks.kernel(); }

private:
    BlockRows plain_rows(std::size_t rows, const float* y, float* x, float* every_layer) const {
        return {.rows = rows * repeat_,
                .y = y,
                .y_stride = m_,
                .x = x,
                .x_stride = n_,
                .every_layer = every_layer,
                .layer_stride = rows * repeat_ * n_};
    }

    void begin(Slot& slot, ConstBatchView y, std::size_t first, std::size_t copies) {
        const std::size_t width = y.cols, signal = repeat_ * n_;
        slot.y_here.reserve(y.rows * width);
        slot.x_here.reserve(y.rows * copies * signal);
        slot.y.reserve(y.rows * width);
        slot.x.reserve(y.rows * copies * signal);
        for (std::size_t i = 0; i < y.rows; ++i)
            std::memcpy(slot.y_here.data() + i * width, y.row(i).data(), width * sizeof(float));
        check(cudaMemcpyAsync(slot.y.data(), slot.y_here.data(), y.rows * width * sizeof(float),
                              cudaMemcpyHostToDevice, slot.stream),
              "copying rows");
        float* layers = copies > 1 ? slot.x.data() + y.rows * signal : nullptr;
        slot.blocks.recover(plain_rows(y.rows, slot.y.data(), slot.x.data(), layers), layers_,
                            slot.stream);
        check(cudaMemcpyAsync(slot.x_here.data(), slot.x.data(),
                              y.rows * copies * signal * sizeof(float), cudaMemcpyDeviceToHost,
                              slot.stream),
              "copying rows");
        slot.first = first;
        slot.rows = y.rows;
    }

    /// What an error left on its way.
    static void forget(Slot& slot) {
        if (slot.rows > 0) cudaStreamSynchronize(slot.stream);
        slot.rows = 0;
    }

    void finish(Slot& slot, BatchView x, float* every_layer) {
        if (slot.rows == 0) return;
        check(cudaStreamSynchronize(slot.stream), "recovering");
        const std::size_t signal = repeat_ * n_;
        for (std::size_t i = 0; i < slot.rows; ++i)
            std::memcpy(x.row(slot.first + i).data(), slot.x_here.data() + i * signal,
                        signal * sizeof(float));
        for (std::size_t k = 0; every_layer != nullptr && k < layers_; ++k)
            std::memcpy(every_layer + (k * x.rows + slot.first) * signal,
                        slot.x_here.data() + (k + 1) * slot.rows * signal,
                        slot.rows * signal * sizeof(float));
        slot.rows = 0;
    }

    std::size_t layers_, repeat_;
    std::size_t m_ = 0, n_ = 0;  ///< of one repetition
    std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace

}  // namespace pibinn::cuda

extern "C" pibinn::DeviceRecovery* pibinn_cuda_make_recovery(const pibinn::DeviceNetwork* network) {
    return new pibinn::cuda::CudaRecovery(*network);
}
