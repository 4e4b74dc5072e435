#include <vector>

#include "infer/cuda/resident_kernel.cuh"

namespace pibinn::cuda {

namespace {

using namespace resident;

/// Tiles of eight by eight as a product finds them: eight numbers of one output that are summed
/// over, then the next output's.
void lay_out(const std::vector<__half>& matrix, std::size_t rows, std::size_t cols, bool transposed,
             int deep, int wide, std::vector<__half>& to) {
    // `matrix` is column by column; entry (depth, width) of the factor is (row, col) or reversed.
    const auto entry = [&](std::size_t depth, std::size_t width) {
        const std::size_t i = transposed ? width : depth, j = transposed ? depth : width;
        return i < rows && j < cols ? matrix[j * rows + i] : __half(0.0F);
    };
    for (int d = 0; d < 2 * deep; ++d)
        for (int t = 0; t < wide; ++t)
            for (int output = 0; output < 8; ++output)
                for (int i = 0; i < 8; ++i) to.push_back(entry(8 * d + i, 8 * t + output));
}

using Kernel = void (*)(Args);

template <int kA, int kW, int kX>
struct Chosen {
    static Kernel kernel(bool soft) {
        return soft ? resident_kernel<kA, kW, kX, true> : resident_kernel<kA, kW, kX, false>;
    }
    static constexpr std::size_t shared = sizeof(Shared<kA, kW>);
};

class ResidentNetwork final : public BlockNetwork {
public:
    ResidentNetwork(const DeviceNetwork& network, const DeviceBlock& block)
        : m_(block.m),
          n_(block.n),
          tied_(block.weights.size() == 1),
          kinds_(kinds_of(network)),
          layers_(layer_numbers(network)) {
        const HalfMatrix a = split_matrix(block.a);
        std::vector<HalfMatrix> weights;
        for (const auto& layer : block.weights) weights.push_back(split_matrix(layer));
        bool exact = true;
        for (const HalfMatrix& layer : weights) exact = exact && layer.exact;
        parts_ = {a.exact ? 1 : 2, exact ? 1 : 2, 2};
        if (parts_.w == 2) parts_.a = 2;
        if (network.half) parts_ = {1, 1, 1};

        std::vector<float> units{a.unit};
        std::vector<__half> words;
        for (int part = 0; part < parts_.a; ++part)
            lay_out(part == 0 ? a.high : a.low, m_, n_, true, Tiles::deep_n, Tiles::m, words);
        copy(words, a_);
        words.clear();
        for (const HalfMatrix& layer : weights) {
            units.push_back(layer.unit);
            for (int part = 0; part < parts_.w; ++part)
                lay_out(part == 0 ? layer.high : layer.low, m_, n_, false, Tiles::deep_m, Tiles::n,
                        words);
        }
        copy(words, w_);
        copy(units, units_);
        const bool soft = network.activation == Activation::soft;
        const auto choose = [&](auto chosen) {
            kernel_ = chosen.kernel(soft);
            shared_ = chosen.shared + network.layers * sizeof(LayerNumbers);
        };
        if (parts_.x == 1)
            choose(Chosen<1, 1, 1>());
        else if (parts_.w == 2)
            choose(Chosen<2, 2, 2>());
        else if (parts_.a == 2)
            choose(Chosen<2, 1, 2>());
        else
            choose(Chosen<1, 1, 2>());
        if (!fits()) return;
        check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_)),
              "taking shared memory");
        int device = 0;
        check(cudaGetDevice(&device), "asking for the device");
        check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device),
              "counting multiprocessors");
    }

    bool fits() const { return shared_ <= most_shared_memory(); }

    void recover(const BlockRows& rows, cudaStream_t stream) override {
        if (rows.rows == 0) return;
        const std::size_t batches = (rows.rows + kRowsPerBlock - 1) / kRowsPerBlock;
        const auto blocks = static_cast<unsigned>(
            batches < static_cast<std::size_t>(processors_) ? batches : processors_);
        const Args args{.rows = rows,
                        .m = static_cast<unsigned>(m_),
                        .n = static_cast<unsigned>(n_),
                        .kinds = kinds_,
                        .layers = layers_.data(),
                        .a = a_.data(),
                        .w = w_.data(),
                        .units = units_.data(),
                        .tied = tied_,
                        .residual_exponent = residual_exponent(m_)};
        kernel_<<<blocks, kThreadsOfBlock, shared_, stream>>>(args);
        check(cudaGetLastError(), "starting a kernel");
    }

    std::string kernel() const override { return "resident"; }

private:
    template <class T>
    static void copy(const std::vector<T>& from, DeviceArray<T>& to) {
        to.reserve(from.size());
        check(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
              "copying a network");
    }

    std::size_t m_, n_;
    bool tied_;
    LayerKinds kinds_;
    DeviceArray<LayerNumbers> layers_;
    Parts parts_{};
    DeviceArray<__half> a_, w_;
    DeviceArray<float> units_;
    Kernel kernel_ = nullptr;
    std::size_t shared_ = 0;
    int processors_ = 1;
};

}  // namespace

std::unique_ptr<BlockNetwork> resident_network(const DeviceNetwork& network,
                                               const DeviceBlock& block) {
    if (block.m > kMostRows || block.n > kMostColumns || network.layers > kMostLayers)
        return nullptr;
    auto resident = std::make_unique<ResidentNetwork>(network, block);
    if (!resident->fits()) return nullptr;
    return resident;
}

}  // namespace pibinn::cuda
