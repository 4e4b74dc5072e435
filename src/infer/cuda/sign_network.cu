#include <algorithm>
#include <vector>

#include "infer/cuda/sign_kernel.cuh"

namespace pibinn::cuda {

namespace {

using namespace signs;

constexpr std::size_t kMostRows = 256, kMostColumns = 512;

using Kernel = void (*)(Args);

/// A kernel and what it is made for.
struct Choice {
    SignTiles a, w;
    Kernel kernel;
    std::size_t shared;
};

template <int kM, int kN>
Choice choice(bool half, std::size_t layers) {
    using Whole = Shape<kM, kN, 2>;
    using Half = Shape<kM, kN, 1>;
    if (half) return {Half::a(), Half::w(), sign_kernel<kM, kN, 1>, Half::shared_bytes(layers)};
    return {Whole::a(), Whole::w(), sign_kernel<kM, kN, 2>, Whole::shared_bytes(layers)};
}

/// The smallest one that a block fits in.
Choice choose(const DeviceBlock& block, bool half, std::size_t layers) {
    const std::size_t columns = 8 * kWarps;  // of one tile per warp
    if (block.m <= 2 * columns) {
        if (block.n <= 2 * columns) return choice<2, 2>(half, layers);
        if (block.n <= 4 * columns) return choice<2, 4>(half, layers);
        return choice<2, 8>(half, layers);
    }
    if (block.n <= 4 * columns) return choice<4, 4>(half, layers);
    return choice<4, 8>(half, layers);
}

class SignNetwork final : public BlockNetwork {
public:
    SignNetwork(const DeviceNetwork& network, const DeviceBlock& block, const Choice& choice)
        : m_(block.m),
          n_(block.n),
          tied_(block.weights.size() == 1),
          kinds_(kinds_of(network)),
          layers_(layer_numbers(network)),
          a_unit_(sign_unit(block.a)),
          kernel_(choice.kernel),
          shared_(choice.shared) {
        // Matrices are column by column.
        copy(pack_signs(choice.a, n_, m_,
                        [&](std::size_t j, std::size_t i) { return block.a[j * m_ + i] < 0; }),
             a_);
        std::vector<float> units;
        std::vector<std::uint32_t> words;
        for (const auto& layer : block.weights) {
            units.push_back(sign_unit(layer));
            const auto packed = pack_signs(choice.w, m_, n_, [&](std::size_t i, std::size_t j) {
                return layer[j * m_ + i] < 0;
            });
            words.insert(words.end(), packed.begin(), packed.end());
        }
        copy(words, w_);
        copy(units, w_units_);
        // A limit of the kernel, which other networks may use too, with more layers.
        check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(most_shared_memory())),
              "taking shared memory");
        int device = 0, processors = 1;
        check(cudaGetDevice(&device), "asking for the device");
        check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
              "counting multiprocessors");
        int each = 1;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel_, kThreadsPerBlock,
                                                            shared_),
              "counting blocks");
        most_blocks_ = static_cast<std::size_t>(std::max(each, 1)) * processors;
    }

    void recover(const BlockRows& rows, cudaStream_t stream) override {
        if (rows.rows == 0) return;
        const std::size_t batches = (rows.rows + kRowsPerBlock - 1) / kRowsPerBlock;
        const auto blocks = static_cast<unsigned>(std::min(batches, most_blocks_));
        const Args args{.rows = rows,
                        .m = static_cast<unsigned>(m_),
                        .n = static_cast<unsigned>(n_),
                        .kinds = kinds_,
                        .layers = layers_.data(),
                        .a = a_.data(),
                        .w = w_.data(),
                        .a_unit = a_unit_,
                        .w_units = w_units_.data(),
                        .tied = tied_,
                        .residual_exponent = residual_exponent(m_)};
        kernel_<<<blocks, kThreadsPerBlock, shared_, stream>>>(args);
        check(cudaGetLastError(), "starting a kernel");
    }

    std::string kernel() const override { return "signs"; }

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
    DeviceArray<std::uint32_t> a_, w_;
    DeviceArray<float> w_units_;
    float a_unit_;
    Kernel kernel_;
    std::size_t shared_;
    std::size_t most_blocks_ = 1;  ///< that run at once
};

}  // namespace

std::unique_ptr<BlockNetwork> sign_network(const DeviceNetwork& network, const DeviceBlock& block) {
    if (block.m > kMostRows || block.n > kMostColumns || sign_unit(block.a) == 0) return nullptr;
    for (const auto& layer : block.weights)
        if (sign_unit(layer) == 0) return nullptr;
    const Choice choice = choose(block, network.half, network.layers);
    if (choice.shared > most_shared_memory()) return nullptr;
    return std::make_unique<SignNetwork>(network, block, choice);
}

}  // namespace pibinn::cuda
