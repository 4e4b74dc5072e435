#include <vector>

#include "infer/cuda/resident_kernel.cuh"

namespace pibinn::cuda {

namespace {

using namespace resident;

/// What lane l of a product with `deep` x `wide` tiles reads: four neighbours of one column.
void lay_out(const std::vector<__half>& matrix, std::size_t rows, std::size_t cols, bool transposed,
             int deep, int wide, std::vector<__half>& to) {
    // `matrix` is column by column; entry (depth, width) of the factor is (row, col) or reversed.
    const auto entry = [&](std::size_t depth, std::size_t width) {
        const std::size_t i = transposed ? width : depth, j = transposed ? depth : width;
        return i < rows && j < cols ? matrix[j * rows + i] : __half(0.0F);
    };
    for (int d = 0; d < deep; ++d)
        for (int t = 0; t < wide; ++t)
            for (int lane = 0; lane < 32; ++lane)
                for (const int offset : {0, 1, 8, 9})
                    to.push_back(entry(16 * d + 2 * (lane % 4) + offset, 8 * t + lane / 4));
}

using Kernel = void (*)(Args);

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
        kernel_ = parts_.x == 1   ? resident_kernel<1, 1, 1>
                  : parts_.w == 2 ? resident_kernel<2, 2, 2>
                  : parts_.a == 2 ? resident_kernel<2, 1, 2>
                                  : resident_kernel<1, 1, 2>;
        shared_ = sizeof(uint2) * (parts_.a * kOperatorWords + 2 * parts_.w * kWeightWords +
                                   kWarps * Tiles::m * 2 * 32) +
                  network.layers * sizeof(LayerNumbers);
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
                        .a = reinterpret_cast<const uint2*>(a_.data()),
                        .w = reinterpret_cast<const uint2*>(w_.data()),
                        .units = units_.data(),
                        .tied = tied_,
                        .residual_exponent = residual_exponent(m_)};
        kernel_<<<blocks, kWarps * 32, shared_, stream>>>(args);
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
