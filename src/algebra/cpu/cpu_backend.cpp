#include <cmath>

#include "algebra/backend.hpp"
#include "algebra/cpu/linear_pass.hpp"
#include "algebra/cpu/unrolled_pass.hpp"

namespace pibinn {

namespace {

/// Calls visit(first link, last link + 1) for every group of links that shares one scale.
template <class Visit>
void for_each_scale(Quantiser::Scale scale, std::span<const LinkBlock> blocks, std::size_t links,
                    Visit&& visit) {
    if (scale != Quantiser::Scale::channel) {
        visit(std::size_t{0}, links);
        return;
    }
    std::size_t at = 0;
    for (const LinkBlock& block : blocks)
        for (std::size_t j = 0; j < block.n; ++j) {
            const std::size_t length =
                block.full() ? block.m : block.offsets[j + 1] - block.offsets[j];
            visit(at, at + length);
            at += length;
        }
}

float mean_magnitude(std::span<const float> values) {
    double sum = 0;
    for (float v : values) sum += std::abs(v);
    return static_cast<float>(sum / static_cast<double>(values.size()));
}

float to_level(Quantiser::Levels levels, float value, float scale) {
    if (levels == Quantiser::Levels::sign) return value < 0 ? -scale : scale;
    const float level = scale > 0 ? std::round(value / scale) : 0.0F;
    return level >= 1 ? scale : (level <= -1 ? -scale : 0.0F);
}

class CpuBackend final : public Backend {
public:
    std::size_t rows_per_pass() const override { return 64; }

    std::unique_ptr<UnrolledPass> unrolled_pass(const LinkBlock& block,
                                                std::span<const float> operator_values,
                                                std::size_t layers, std::size_t rows) override {
        return std::make_unique<cpu::CpuUnrolledPass>(block, operator_values, layers, rows);
    }

    std::unique_ptr<LinearPass> linear_pass(std::span<const std::size_t> widths,
                                            std::size_t rows) override {
        return std::make_unique<cpu::CpuLinearPass>(widths, rows);
    }

    void quantise(const Quantiser& q, std::span<const LinkBlock> blocks,
                  std::span<const float> latent, float scale, std::span<float> effective,
                  std::span<float> scales) override {
        if (q.levels == Quantiser::Levels::real) {
            std::copy(latent.begin(), latent.end(), effective.begin());
            return;
        }
        std::size_t group = 0;
        for_each_scale(q.scale, blocks, latent.size(), [&](std::size_t begin, std::size_t end) {
            float s = scale;
            if (q.scale != Quantiser::Scale::global) {
                s = mean_magnitude(latent.subspan(begin, end - begin));
                scales[group++] = s;
            }
            for (std::size_t l = begin; l < end; ++l)
                effective[l] = to_level(q.levels, latent[l], s);
        });
    }

    void adam(const AdamStep& a, std::span<float> values, std::span<const float> gradient,
              std::span<float> first, std::span<float> second) override {
        const double t = static_cast<double>(a.step);
        const float correct1 = static_cast<float>(1.0 / (1.0 - std::pow(double{a.beta1}, t)));
        const float correct2 = static_cast<float>(1.0 / (1.0 - std::pow(double{a.beta2}, t)));
        const std::size_t count = values.size();
        float* v = values.data();
        const float* g = gradient.data();
        float* m1 = first.data();
        float* m2 = second.data();
        for (std::size_t i = 0; i < count; ++i) {
            const float gi = a.gradient_factor * g[i];
            m1[i] = a.beta1 * m1[i] + (1 - a.beta1) * gi;
            m2[i] = a.beta2 * m2[i] + (1 - a.beta2) * gi * gi;
            v[i] -= a.rate * correct1 * m1[i] / (std::sqrt(correct2 * m2[i]) + a.epsilon);
        }
    }

    void add(std::span<const float> part, std::span<float> total) override {
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
    }

    double squared_norm(std::span<const float> values) override {
        double sum = 0;
        for (float v : values) sum += double{v} * v;
        return sum;
    }

    double dot_signs(std::span<const float> gradient, std::span<const float> latent) override {
        double sum = 0;
        for (std::size_t i = 0; i < latent.size(); ++i)
            sum += latent[i] < 0 ? -gradient[i] : gradient[i];
        return sum;
    }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace pibinn
