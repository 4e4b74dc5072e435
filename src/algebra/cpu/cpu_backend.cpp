#include <algorithm>
#include <cmath>

#include "algebra/backend.hpp"
#include "algebra/complex_links.hpp"
#include "algebra/cpu/cpu_buffer.hpp"
#include "algebra/cpu/flat_kernels.hpp"
#include "algebra/cpu/linear_pass.hpp"
#include "algebra/cpu/unrolled_pass.hpp"

namespace pibinn {

namespace {

using cpu::number;
using cpu::numbers;

// Numbers that one task adds up over all parts: enough to be worth a task, and few enough to stay
// in the cache while part after part is added.
constexpr std::size_t kNumbersPerTask = 16384;

float mean_magnitude(std::span<const float> values) {
    double sum = 0;
    for (float v : values) sum += std::abs(v);
    return static_cast<float>(sum / static_cast<double>(values.size()));
}

float to_level(std::span<const float> levels, float value, float scale) {
    return scale > 0 ? scale * nearest_level(levels, value / scale) : 0.0F;
}

void adam_with(const AdamStep& step, float gradient_factor, std::span<float> values,
               std::span<const float> gradient, std::span<float> first, std::span<float> second) {
    const auto correction = [&](float beta) {
        return static_cast<float>(1.0 /
                                  (1.0 - std::pow(double{beta}, static_cast<double>(step.step))));
    };
    cpu::adam({.step = step,
               .gradient_factor = gradient_factor,
               .correct1 = correction(step.beta1),
               .correct2 = correction(step.beta2)},
              values, gradient, first, second);
}

class CpuBackend final : public Backend {
public:
    std::unique_ptr<Buffer> allocate(std::size_t count) override {
        return std::make_unique<cpu::CpuBuffer>(count);
    }

    void upload(std::span<const float> from, BufferView to) override {
        std::copy(from.begin(), from.end(), numbers(to).begin());
    }

    void download(ConstBufferView from, std::span<float> to) const override {
        std::copy(numbers(from).begin(), numbers(from).end(), to.begin());
    }

    std::span<float> on_host(BufferView view) override { return numbers(view); }

    std::size_t rows_per_pass() const override { return 64; }
    std::size_t shards() const override { return kCpuShards; }

    std::unique_ptr<UnrolledPass> unrolled_pass(const Block& block,
                                                std::span<const float> operator_values,
                                                std::size_t layers, std::size_t rows,
                                                const Sites& sites, PassUse use) override {
        return std::make_unique<cpu::CpuUnrolledPass>(block, operator_values, layers, rows, sites,
                                                      use);
    }

    std::unique_ptr<LinearPass> linear_pass(std::span<const std::size_t> widths,
                                            std::size_t rows) override {
        return std::make_unique<cpu::CpuLinearPass>(widths, rows);
    }

    void copy(ConstBufferView from, BufferView to) override { upload(numbers(from), to); }

    void fill(float value, BufferView values) override {
        std::fill(numbers(values).begin(), numbers(values).end(), value);
    }

    void multiply(float factor, BufferView values) override {
        for (float& v : numbers(values)) v *= factor;
    }

    void keep_at_least(float least, BufferView values) override {
        for (float& v : numbers(values)) v = std::max(v, least);
    }

    void average(float share, ConstBufferView values, BufferView mean) override {
        cpu::average(share, numbers(values), numbers(mean));
    }

    void sum(std::span<const ConstBufferView> parts, BufferView total, ThreadPool& pool) override {
        pool.run_chunks(total.count, kNumbersPerTask,
                        [&](std::size_t, std::size_t begin, std::size_t end) {
                            const BufferView chunk = total.part(begin, end - begin);
                            const ConstBufferView first = parts[0].part(begin, end - begin);
                            if (numbers(first).data() != numbers(chunk).data()) copy(first, chunk);
                            for (const ConstBufferView& part : parts.subspan(1))
                                cpu::add(numbers(part.part(begin, end - begin)), numbers(chunk));
                        });
    }

    double squared_norm(ConstBufferView values) override {
        return cpu::squared_norm(numbers(values));
    }

    void adam(const AdamStep& step, const AdamNumbers& n) override {
        float factor = 1;
        if (step.clip > 0) {
            const double norm = std::sqrt(squared_norm(n.gradient));
            if (norm > step.clip) factor = static_cast<float>(step.clip / norm);
        }
        adam_with(step, factor, numbers(n.values), numbers(n.gradient), numbers(n.first),
                  numbers(n.second));
    }

    void adam_of_logarithm(const AdamStep& step, const AdamNumbers& n) override {
        float& value = numbers(n.values)[0];
        float logarithm = std::log(value);
        adam_with(step, value, {&logarithm, 1}, numbers(n.gradient), numbers(n.first),
                  numbers(n.second));
        value = std::exp(logarithm);
    }

    void quantise(const Quantiser& q, const Structure& structure, ConstBufferView latent_view,
                  ConstBufferView global_scale, BufferView effective_view) override {
        const auto latent = numbers(latent_view);
        const auto effective = numbers(effective_view);
        if (q.levels.empty()) {
            copy(latent_view, effective_view);
            return;
        }
        for_each_scale_run(q.scale, structure, [&](std::size_t begin, std::size_t end) {
            const auto from = latent.subspan(begin, end - begin);
            const auto to = effective.subspan(begin, end - begin);
            const float scale =
                q.scale == Quantiser::Scale::global ? number(global_scale) : mean_magnitude(from);
            if (q.signs_only())
                cpu::to_signs(from, scale, to);
            else
                for (std::size_t l = 0; l < to.size(); ++l)
                    to[l] = to_level(q.levels, from[l], scale);
        });
    }

    void average_pairs(const Structure& structure, BufferView links) override {
        const std::span<float> v = numbers(links);
        for_each_pair(structure, [&](std::size_t first, std::size_t second, float sign) {
            v[first] = (v[first] + sign * v[second]) / 2;
            v[second] = sign * v[first];
        });
    }

    void copy_pairs(const Structure& structure, BufferView links) override {
        complete_complex(structure, numbers(links));
    }

    void scale_gradient(std::span<const ConstBufferView> weight_gradients,
                        std::span<const ConstBufferView> latents, BufferView gradient) override {
        double sum = 0;
        for (std::size_t k = 0; k < latents.size(); ++k)
            sum += scale_gradient_of(weight_gradients[k], latents[k]);
        numbers(gradient)[0] = static_cast<float>(sum);
    }

    double scale_gradient_of(ConstBufferView weight_gradient, ConstBufferView latent) override {
        return cpu::dot_signs(numbers(weight_gradient), numbers(latent));
    }

    void move_towards_levels(ConstBufferView level, float strength, BufferView weights) override {
        const float most = number(level);
        for (float& w : numbers(weights)) {
            const float target = w < 0 ? -most : most;
            w += std::clamp(target - w, -strength, strength);
        }
    }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace pibinn
