#include <cmath>

#include "algebra/backend.hpp"
#include "algebra/cpu/flat_kernels.hpp"
#include "algebra/cpu/linear_pass.hpp"
#include "algebra/cpu/unrolled_pass.hpp"

namespace pibinn {

namespace {

float mean_magnitude(std::span<const float> values) {
    double sum = 0;
    for (float v : values) sum += std::abs(v);
    return static_cast<float>(sum / static_cast<double>(values.size()));
}

float to_level(std::span<const float> levels, float value, float scale) {
    return scale > 0 ? scale * nearest_level(levels, value / scale) : 0.0F;
}

class CpuBackend final : public Backend {
public:
    std::size_t rows_per_pass() const override { return 64; }

    std::unique_ptr<UnrolledPass> unrolled_pass(const Block& block,
                                                std::span<const float> operator_values,
                                                std::size_t layers, std::size_t rows) override {
        return std::make_unique<cpu::CpuUnrolledPass>(block, operator_values, layers, rows);
    }

    std::unique_ptr<LinearPass> linear_pass(std::span<const std::size_t> widths,
                                            std::size_t rows) override {
        return std::make_unique<cpu::CpuLinearPass>(widths, rows);
    }

    void quantise(const Quantiser& q, const Structure& structure, std::span<const float> latent,
                  float scale, std::span<float> effective, std::span<float> scales) override {
        if (q.levels.empty()) {
            std::copy(latent.begin(), latent.end(), effective.begin());
            return;
        }
        std::size_t group = 0;
        for_each_scale_run(q.scale, structure, [&](std::size_t begin, std::size_t end) {
            float s = scale;
            if (q.scale != Quantiser::Scale::global) {
                s = mean_magnitude(latent.subspan(begin, end - begin));
                scales[group++] = s;
            }
            const auto from = latent.subspan(begin, end - begin);
            const auto to = effective.subspan(begin, end - begin);
            if (q.signs_only())
                cpu::to_signs(from, s, to);
            else
                for (std::size_t l = 0; l < to.size(); ++l) to[l] = to_level(q.levels, from[l], s);
        });
    }

    void adam(const AdamStep& step, std::span<float> values, std::span<const float> gradient,
              std::span<float> first, std::span<float> second) override {
        const auto correction = [&](float beta) {
            return static_cast<float>(
                1.0 / (1.0 - std::pow(double{beta}, static_cast<double>(step.step))));
        };
        cpu::adam(step, correction(step.beta1), correction(step.beta2), values, gradient, first,
                  second);
    }

    void average(float share, std::span<const float> values, std::span<float> mean) override {
        cpu::average(share, values, mean);
    }

    void add(std::span<const float> part, std::span<float> total) override {
        cpu::add(part, total);
    }

    double squared_norm(std::span<const float> values) override {
        return cpu::squared_norm(values);
    }

    double dot_signs(std::span<const float> gradient, std::span<const float> latent) override {
        return cpu::dot_signs(gradient, latent);
    }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace pibinn
