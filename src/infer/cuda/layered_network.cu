#include <algorithm>
#include <vector>

#include "algebra/cuda/device.cuh"
#include "infer/cuda/block_network.cuh"
#include "infer/cuda/half_parts.cuh"
#include "infer/cuda/layer_numbers.cuh"

namespace pibinn::cuda {

namespace {

constexpr std::size_t kAlign = 8;  ///< of rows of float16 numbers, for the matrix units
constexpr std::size_t kRowsAtOnce = 8192;

std::size_t padded(std::size_t count) { return (count + kAlign - 1) / kAlign * kAlign; }

/// Float16 parts of rows side by side: high, low, and high again for the low part of a matrix.
struct PartRows {
    __half* data;
    std::size_t width;  ///< of one part
    unsigned parts;
};

__device__ void write_parts(const PartRows& to, std::size_t row, std::size_t j, float scaled) {
    __half* line = to.data + row * to.parts * to.width + j;
    const __half high = __float2half_rn(scaled);
    line[0] = high;
    if (to.parts > 1) line[to.width] = __float2half_rn(scaled - __half2float(high));
    if (to.parts > 2) line[2 * to.width] = high;
}

// One warp per row: it needs no other to sum over one.
constexpr unsigned kRowsPerBlock = 8;

struct ResidualArgs {
    std::size_t rows, m, p_stride;
    LayerKinds kinds;
    const LayerNumbers* layer;
    const float* y;
    std::size_t y_stride;
    const float* p;       ///< A v in the units of its factors; null in the first layer
    const float* p_back;  ///< what each row's product is to be multiplied by
    const float* slopes;
    float a_unit;
    float* r;
    float *mean_abs, *r_back;
    int exponent;
    PartRows parts;
};

__global__ void residual_kernel(ResidualArgs a) {
    const std::size_t row = std::size_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    if (row >= a.rows) return;
    const float kept = a.p != nullptr && a.kinds.onsager
                           ? a.layer->omega * a.slopes[row] / static_cast<float>(a.m)
                           : 0.0F;
    const float back = a.p != nullptr ? a.p_back[row] * a.a_unit : 0.0F;
    float* r = a.r + row * a.m;
    float sum = 0;
    for (std::size_t i = lane; i < a.m; i += 32) {
        float value = -a.y[row * a.y_stride + i];
        if (a.p != nullptr) {
            value = fmaf(kept, r[i], value);
            value = fmaf(a.p[row * a.p_stride + i], back, value);
        }
        r[i] = value;
        sum += fabsf(value);
    }
    const float mean = warp_sum(sum) / static_cast<float>(a.m);
    const Scale scale = scale_to(mean, a.exponent);
    for (std::size_t i = lane; i < a.m; i += 32) write_parts(a.parts, row, i, r[i] * scale.by);
    if (lane != 0) return;
    a.mean_abs[row] = mean;
    a.r_back[row] = scale.back;
}

struct ThresholdArgs {
    std::size_t rows, n, q_stride;
    LayerKinds kinds;
    const LayerNumbers *layer, *next;  ///< `next` is null in the last one
    const float* q;
    const float *mean_abs, *r_back;
    float w_unit;
    const float* x;  ///< null in the first layer
    float* before;   ///< x_{k-2}, if `earlier`; out: x_k
    bool earlier;
    float *slopes, *p_back;
    PartRows parts;
    float* out;  ///< where x_k is wanted; null otherwise
    std::size_t out_stride;
};

__global__ void threshold_kernel(ThresholdArgs a) {
    const std::size_t row = std::size_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    if (row >= a.rows) return;
    const std::size_t at = row * a.n;
    const LayerNumbers& layer = *a.layer;
    const float mean = a.mean_abs[row];
    const float unit[2] = {threshold_unit(a.kinds, mean), threshold_unit(a.kinds, mean)};
    const float step = -layer.step * a.w_unit * a.r_back[row];
    const float beta = a.next != nullptr ? a.next->beta : 0.0F;
    float slopes[2] = {0, 0}, largest = 0;
    for (std::size_t first = lane; first < a.n; first += 4 * 32) {
        float now[4], z[1][4], x[1][4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const std::size_t j = first + 32 * e;
            const bool in = j < a.n;
            now[e] = in && a.x != nullptr ? a.x[at + j] : 0.0F;
            const float before = in && a.earlier ? a.before[at + j] : 0.0F;
            const float v = fmaf(layer.beta, now[e] - before, now[e]);
            z[0][e] = in ? fmaf(step, a.q[row * a.q_stride + j], a.kinds.delta * v) : 0.0F;
        }
        shrink(a.kinds, layer, unit, z, x, slopes);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const std::size_t j = first + 32 * e;
            if (j >= a.n) continue;
            const float found = isfinite(mean) ? x[0][e] : NAN;
            a.before[at + j] = found;
            if (a.out != nullptr) a.out[row * a.out_stride + j] = found;
            largest = fmaxf(largest, fabsf(fmaf(beta, found - now[e], found)));
        }
    }
    const float total = warp_sum(slopes[0] + slopes[1]);
    if (lane == 0) a.slopes[row] = total;
    if (a.next == nullptr) return;
    const Scale scale = scale_to(warp_max(largest), kSignalExponent);
    if (lane == 0) a.p_back[row] = scale.back;
    for (std::size_t j = lane; j < a.n; j += 32) {
        const float now = a.before[at + j];
        const float earlier = a.x != nullptr ? a.x[at + j] : 0.0F;
        write_parts(a.parts, row, j, fmaf(beta, now - earlier, now) * scale.by);
    }
}

/// A matrix as cuBLAS reads it: each row's parts side by side, as those of its factor.
void lay_out(const HalfMatrix& matrix, std::size_t m, std::size_t n, bool by_rows, unsigned parts,
             DeviceArray<__half>& there) {
    const std::size_t outer = by_rows ? m : n, inner = by_rows ? n : m, width = padded(inner);
    std::vector<__half> values(outer * parts * width, __half(0.0F));
    for (std::size_t o = 0; o < outer; ++o)
        for (unsigned part = 0; part < parts; ++part)
            for (std::size_t i = 0; i < inner; ++i) {
                const std::size_t at = by_rows ? i * m + o : o * m + i;
                values[(o * parts + part) * width + i] =
                    part == 2 ? matrix.low[at] : matrix.high[at];
            }
    there.reserve(values.size());
    check(cudaMemcpy(there.data(), values.data(), values.size() * sizeof(__half),
                     cudaMemcpyHostToDevice),
          "copying a network");
}

class LayeredNetwork final : public BlockNetwork {
public:
    LayeredNetwork(const DeviceNetwork& network, const DeviceBlock& block)
        : m_(block.m), n_(block.n), kinds_(kinds_of(network)), layers_(layer_numbers(network)) {
        const auto parts_of = [&](const HalfMatrix& matrix) {
            return network.half ? 1U : (matrix.exact ? 2U : 3U);
        };
        const HalfMatrix a = split_matrix(block.a);
        a_parts_ = parts_of(a);
        a_unit_ = a.unit;
        lay_out(a, m_, n_, true, a_parts_, a_);
        for (const auto& layer : block.weights) {
            const HalfMatrix w = split_matrix(layer);
            const unsigned parts = parts_of(w);
            weights_.push_back({{}, w.unit, parts});
            lay_out(w, m_, n_, false, parts, weights_.back().values);
            most_parts_ = std::max(most_parts_, parts);
        }
        check(cublasCreate(&blas_), "starting");
        workspace_.reserve(kBlasWorkspace);
        check(cublasSetWorkspace(blas_, workspace_.data(), kBlasWorkspace), "taking a workspace");
    }
    ~LayeredNetwork() override { cublasDestroy(blas_); }

    void recover(const BlockRows& all, cudaStream_t stream) override {
        check(cublasSetStream(blas_, stream), "taking a stream");
        make_room(std::min(all.rows, kRowsAtOnce));
        for (std::size_t first = 0; first < all.rows; first += kRowsAtOnce) {
            BlockRows some = all;
            some.rows = std::min(kRowsAtOnce, all.rows - first);
            some.y += first * all.y_stride;
            some.x += first * all.x_stride;
            if (some.every_layer != nullptr) some.every_layer += first * all.x_stride;
            recover_some(some, stream);
        }
    }

    std::string kernel() const override { return "layered"; }

private:
    struct Weights {
        DeviceArray<__half> values;
        float unit;
        unsigned parts;
    };

    void make_room(std::size_t rows) {
        if (rows <= room_) return;
        check(cudaDeviceSynchronize(), "waiting for rows");
        for (auto* of_n : {&x_, &before_}) of_n->reserve(rows * n_);
        q_.reserve(rows * padded(n_));
        r_.reserve(rows * m_);
        p_.reserve(rows * padded(m_));
        v_parts_.reserve(rows * a_parts_ * padded(n_));
        r_parts_.reserve(rows * most_parts_ * padded(m_));
        for (auto* of_rows : {&mean_abs_, &slopes_, &p_back_, &r_back_}) of_rows->reserve(rows);
        room_ = rows;
    }

    /// to = from matrix^T, row by row.
    void multiply(const __half* matrix, std::size_t outputs, std::size_t depth, const __half* from,
                  std::size_t rows, float* to, std::size_t to_stride) {
        const float one = 1, zero = 0;
        const auto size = [](std::size_t value) { return static_cast<int>(value); };
        check(cublasGemmEx(blas_, CUBLAS_OP_T, CUBLAS_OP_N, size(outputs), size(rows), size(depth),
                           &one, matrix, CUDA_R_16F, size(depth), from, CUDA_R_16F, size(depth),
                           &zero, to, CUDA_R_32F, size(to_stride), CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT),
              "multiplying");
    }

    void recover_some(const BlockRows& rows, cudaStream_t stream) {
        float *now = x_.data(), *other = before_.data();
        const auto blocks = static_cast<unsigned>((rows.rows + kRowsPerBlock - 1) / kRowsPerBlock);
        for (std::size_t k = 0; k < kinds_.layers; ++k) {
            const Weights& weights = weights_[weights_.size() > 1 ? k : 0];
            const bool first = k == 0, last = k + 1 == kinds_.layers;
            if (!first)
                multiply(a_.data(), m_, a_parts_ * padded(n_), v_parts_.data(), rows.rows,
                         p_.data(), padded(m_));
            residual_kernel<<<blocks, 32 * kRowsPerBlock, 0, stream>>>(
                {.rows = rows.rows,
                 .m = m_,
                 .p_stride = padded(m_),
                 .kinds = kinds_,
                 .layer = layers_.data() + k,
                 .y = rows.y,
                 .y_stride = rows.y_stride,
                 .p = first ? nullptr : p_.data(),
                 .p_back = p_back_.data(),
                 .slopes = slopes_.data(),
                 .a_unit = a_unit_,
                 .r = r_.data(),
                 .mean_abs = mean_abs_.data(),
                 .r_back = r_back_.data(),
                 .exponent = residual_exponent(m_),
                 .parts = {r_parts_.data(), padded(m_), weights.parts}});
            check(cudaGetLastError(), "starting a kernel");
            multiply(weights.values.data(), n_, weights.parts * padded(m_), r_parts_.data(),
                     rows.rows, q_.data(), padded(n_));
            float* out = rows.every_layer != nullptr ? rows.every_layer + k * rows.layer_stride
                         : last                      ? rows.x
                                                     : nullptr;
            threshold_kernel<<<blocks, 32 * kRowsPerBlock, 0, stream>>>(
                {.rows = rows.rows,
                 .n = n_,
                 .q_stride = padded(n_),
                 .kinds = kinds_,
                 .layer = layers_.data() + k,
                 .next = last ? nullptr : layers_.data() + k + 1,
                 .q = q_.data(),
                 .mean_abs = mean_abs_.data(),
                 .r_back = r_back_.data(),
                 .w_unit = weights.unit,
                 .x = first ? nullptr : now,
                 .before = other,
                 .earlier = k >= 2,
                 .slopes = slopes_.data(),
                 .p_back = p_back_.data(),
                 .parts = {v_parts_.data(), padded(n_), a_parts_},
                 .out = out,
                 .out_stride = rows.x_stride});
            check(cudaGetLastError(), "starting a kernel");
            if (last && rows.every_layer != nullptr)
                check(cudaMemcpy2DAsync(rows.x, rows.x_stride * sizeof(float), out,
                                        rows.x_stride * sizeof(float), n_ * sizeof(float),
                                        rows.rows, cudaMemcpyDeviceToDevice, stream),
                      "copying rows");
            std::swap(now, other);
        }
    }

    std::size_t m_, n_;
    LayerKinds kinds_;
    DeviceArray<LayerNumbers> layers_;
    unsigned a_parts_ = 1, most_parts_ = 1;
    float a_unit_ = 1;
    DeviceArray<__half> a_;
    std::vector<Weights> weights_;
    cublasHandle_t blas_ = nullptr;
    DeviceArray<char> workspace_;
    std::size_t room_ = 0;
    DeviceArray<float> x_, before_, q_, r_, p_, mean_abs_, slopes_, p_back_, r_back_;
    DeviceArray<__half> v_parts_, r_parts_;
};

}  // namespace

std::unique_ptr<BlockNetwork> layered_network(const DeviceNetwork& network,
                                              const DeviceBlock& block) {
    return std::make_unique<LayeredNetwork>(network, block);
}

}  // namespace pibinn::cuda
