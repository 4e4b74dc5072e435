#include <cmath>
#include <vector>

#include "algebra/cuda/batch_copy.cuh"
#include "algebra/cuda/flat_kernels.cuh"
#include "algebra/cuda/linear_pass.cuh"
#include "algebra/cuda/unrolled_pass.cuh"
#include "pibinn/error.hpp"

namespace pibinn::cuda {

namespace {

/// Numbers on a CUDA device. All work goes through one queue, so that operations follow each other
/// without waiting; the host waits only where it takes a number. Every sum has one order.
class CudaBackend final : public Backend {
public:
    explicit CudaBackend(bool tf32)
        : queue_(tf32), partials_(kPartials), sign_dots_(kMostBlocks), total_(1) {}
    ~CudaBackend() override { cudaStreamSynchronize(queue_.stream); }

    std::unique_ptr<Buffer> allocate(std::size_t count) override {
        return std::make_unique<CudaBuffer>(count);
    }
    void upload(std::span<const float> from, BufferView to) override {
        cuda::upload(queue_, from.data(), from.size(), numbers(to));
    }
    void download(ConstBufferView from, std::span<float> to) const override {
        cuda::download(queue_, numbers(from), to.size(), to.data());
    }

    std::size_t rows_per_pass() const override { return 4096; }
    std::size_t shards() const override { return 1; }

    std::unique_ptr<UnrolledPass> unrolled_pass(const Block& block,
                                                std::span<const float> operator_values,
                                                std::size_t layers, std::size_t,
                                                const Sites& sites, PassUse) override {
        if (!sites.apart())
            fail_usage("a CUDA device trains networks without groups and neighbours only",
                       "set TrainOptions::device = \"cpu\"");
        return std::make_unique<CudaUnrolledPass>(queue_, block, operator_values, layers);
    }
    std::unique_ptr<LinearPass> linear_pass(std::span<const std::size_t> widths,
                                            std::size_t) override {
        return std::make_unique<CudaLinearPass>(queue_, widths);
    }

    void copy(ConstBufferView from, BufferView to) override {
        if (from.empty()) return;
        check(cudaMemcpyAsync(numbers(to), numbers(from), from.count * sizeof(float),
                              cudaMemcpyDeviceToDevice, queue_.stream),
              "copying numbers");
    }
    void fill(float value, BufferView values) override {
        cuda::fill(queue_, value, numbers(values), values.count);
    }
    void multiply(float factor, BufferView values) override {
        cuda::multiply(queue_, factor, numbers(values), values.count);
    }
    void keep_at_least(float least, BufferView values) override {
        cuda::keep_at_least(queue_, least, numbers(values), values.count);
    }
    void average(float share, ConstBufferView values, BufferView mean) override {
        cuda::average(queue_, share, numbers(values), numbers(mean), mean.count);
    }
    void sum(std::span<const ConstBufferView> parts, BufferView total, ThreadPool&) override {
        copy(parts[0], total);
        for (const ConstBufferView& part : parts.subspan(1))
            cuda::add(queue_, numbers(part), numbers(total), total.count);
    }
    double squared_norm(ConstBufferView values) override {
        if (values.empty()) return 0;
        partial_squares(queue_, numbers(values), values.count, partials_.data());
        finish_sum(queue_, partials_.data(), kPartials, false, total_.data());
        double norm = 0;
        cuda::download(queue_, total_.data(), 1, &norm);
        return norm;
    }

    void adam(const AdamStep& step, const AdamNumbers& n) override {
        adam_with(step, n, false, nullptr);
    }
    void adam_of_logarithm(const AdamStep& step, const AdamNumbers& n) override {
        adam_with(step, n, true, nullptr);
    }
    void adam_of_weights(const AdamStep& step, std::span<const AdamNumbers> layers,
                         BufferView of_scale) override {
        bool added = false;
        for (const AdamNumbers& n : layers) {
            adam_with(step, n, false, of_scale.empty() ? nullptr : sign_dots_.data());
            if (of_scale.empty() || n.values.empty()) continue;
            finish_sum(queue_, sign_dots_.data(), adam_blocks(n.values.count), added,
                       total_.data());
            added = true;
        }
        if (added) to_float(queue_, total_.data(), numbers(of_scale));
    }

    void quantise(const Quantiser& q, const Structure& structure, ConstBufferView latent,
                  ConstBufferView global_scale, BufferView effective) override {
        if (latent.empty()) return;
        if (q.levels.empty()) {
            copy(latent, effective);
            return;
        }
        QuantiseArgs args{.levels = {},
                          .level_count = q.levels.size(),
                          .signs_only = q.signs_only(),
                          .latent = numbers(latent),
                          .effective = numbers(effective)};
        ensure(q.levels.size() <= kMostLevels, "levels of a quantiser");
        std::copy(q.levels.begin(), q.levels.end(), args.levels);
        if (q.scale == Quantiser::Scale::channel) {
            quantise_channels(args, structure);
            return;
        }
        const bool global = q.scale == Quantiser::Scale::global;
        if (!global) partial_magnitudes(queue_, args.latent, latent.count, partials_.data());
        cuda::quantise(queue_, args, numbers(global_scale), global ? nullptr : partials_.data(),
                       latent.count);
    }

    void average_pairs(const Structure& structure, BufferView links) override {
        if (has_pairs(structure))
            cuda::average_pairs(queue_, structure.parts()[0].rows, numbers(links), links.count);
    }
    void copy_pairs(const Structure& structure, BufferView links) override {
        if (has_pairs(structure))
            cuda::copy_pairs(queue_, structure.parts()[0].rows, numbers(links), links.count);
    }

    void scale_gradient(std::span<const ConstBufferView> weight_gradients,
                        std::span<const ConstBufferView> latents, BufferView gradient) override {
        for (std::size_t k = 0; k < latents.size(); ++k) {
            partial_sign_dots(queue_, numbers(weight_gradients[k]), numbers(latents[k]),
                              latents[k].count, partials_.data());
            finish_sum(queue_, partials_.data(), kPartials, k > 0, total_.data());
        }
        to_float(queue_, total_.data(), numbers(gradient));
    }
    void move_towards_levels(ConstBufferView level, float strength, BufferView weights) override {
        cuda::move_towards_levels(queue_, numbers(level), strength, numbers(weights),
                                  weights.count);
    }

private:
    /// Whether links come in pairs; those of a mask have no kernel.
    static bool has_pairs(const Structure& structure) {
        if (structure.complex_pattern())
            fail_usage("a CUDA device trains no links of a complex mask",
                       "use weights \"tied\", a dense structure or device \"cpu\"");
        return structure.is_complex();
    }

    void adam_with(const AdamStep& step, const AdamNumbers& n, bool logarithm, double* sign_dots) {
        const bool clipped = step.clip > 0 && !logarithm;
        if (clipped)
            partial_squares(queue_, numbers(n.gradient), n.gradient.count, partials_.data());
        const auto correction = [&](float beta) {
            return static_cast<float>(
                1.0 / (1.0 - std::pow(double{beta}, static_cast<double>(step.step))));
        };
        cuda::adam(queue_, {.step = step,
                            .correct1 = correction(step.beta1),
                            .correct2 = correction(step.beta2),
                            .partials = clipped ? partials_.data() : nullptr,
                            .sign_dots = sign_dots,
                            .logarithm = logarithm,
                            .values = numbers(n.values),
                            .first = numbers(n.first),
                            .second = numbers(n.second),
                            .gradient = numbers(n.gradient),
                            .count = n.values.count});
    }

    void quantise_channels(QuantiseArgs args, const Structure& structure) {
        const float* latent = args.latent;
        float* effective = args.effective;
        for (const Block& block : structure.parts()) {
            args.latent = latent + block.first_link;
            args.effective = effective + block.first_link;
            const unsigned* offsets = nullptr;
            if (!block.full()) {
                if (!std::equal(block.offsets.begin(), block.offsets.end(), known_offsets_.begin(),
                                known_offsets_.end())) {
                    known_offsets_.assign(block.offsets.begin(), block.offsets.end());
                    offsets_.reserve(known_offsets_.size());
                    cuda::upload(queue_, known_offsets_.data(), known_offsets_.size(),
                                 offsets_.data());
                }
                offsets = offsets_.data();
            }
            quantise_columns(queue_, args, offsets, block.rows, block.cols);
        }
    }

    Queue queue_;
    DeviceArray<double> partials_, sign_dots_, total_;
    std::vector<unsigned> known_offsets_;  ///< of the last mask, which `offsets_` has
    DeviceArray<unsigned> offsets_;
};

}  // namespace

}  // namespace pibinn::cuda

extern "C" pibinn::Backend* pibinn_cuda_make_backend(bool tf32) {
    return new pibinn::cuda::CudaBackend(tf32);
}
