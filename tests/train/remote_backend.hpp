#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "algebra/backend.hpp"

namespace pibinn::testing {

/// A backend whose numbers nobody else can read: its buffers hold them with all bits turned around.
/// Each operation fetches what it needs, lets the CPU backend do the work, and stores the result.
/// What reaches past the interface, into host memory, gets nonsense.
class RemoteBackend final : public Backend {
public:
    std::size_t operations = 0;

    std::unique_ptr<Buffer> allocate(std::size_t count) override {
        return std::make_unique<RemoteBuffer>(count);
    }
    void upload(std::span<const float> from, BufferView to) override {
        for (std::size_t i = 0; i < from.size(); ++i) word(to, i) = ~std::bit_cast<Word>(from[i]);
    }
    void download(ConstBufferView from, std::span<float> to) const override {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::bit_cast<float>(~word(from, i));
    }

    std::size_t rows_per_pass() const override { return cpu_->rows_per_pass(); }
    std::size_t shards() const override { return cpu_->shards(); }
    std::unique_ptr<UnrolledPass> unrolled_pass(const Block& block, std::span<const float> a,
                                                std::size_t layers, std::size_t rows,
                                                const Sites& sites, PassUse use) override {
        return std::make_unique<RemoteUnrolledPass>(
            *this, cpu_->unrolled_pass(block, a, layers, rows, sites, use));
    }
    std::unique_ptr<LinearPass> linear_pass(std::span<const std::size_t> widths,
                                            std::size_t rows) override {
        return std::make_unique<RemoteLinearPass>(*this, cpu_->linear_pass(widths, rows));
    }

    void copy(ConstBufferView from, BufferView to) override {
        on_cpu([&](Visit& v) { cpu_->copy(v(from), v(to)); });
    }
    void fill(float value, BufferView values) override {
        on_cpu([&](Visit& v) { cpu_->fill(value, v(values)); });
    }
    void multiply(float factor, BufferView values) override {
        on_cpu([&](Visit& v) { cpu_->multiply(factor, v(values)); });
    }
    void keep_at_least(float least, BufferView values) override {
        on_cpu([&](Visit& v) { cpu_->keep_at_least(least, v(values)); });
    }
    void average(float share, ConstBufferView values, BufferView mean) override {
        on_cpu([&](Visit& v) { cpu_->average(share, v(values), v(mean)); });
    }
    void sum(std::span<const ConstBufferView> parts, BufferView total, ThreadPool& pool) override {
        on_cpu([&](Visit& v) { cpu_->sum(v.all(parts), v(total), pool); });
    }
    double squared_norm(ConstBufferView values) override {
        double norm = 0;
        on_cpu([&](Visit& v) { norm = cpu_->squared_norm(v(values)); });
        return norm;
    }
    void adam(const AdamStep& step, const AdamNumbers& n) override {
        on_cpu([&](Visit& v) {
            cpu_->adam(step, {v(n.values), v(n.gradient), v(n.first), v(n.second)});
        });
    }
    void adam_of_logarithm(const AdamStep& step, const AdamNumbers& n) override {
        on_cpu([&](Visit& v) {
            cpu_->adam_of_logarithm(step, {v(n.values), v(n.gradient), v(n.first), v(n.second)});
        });
    }
    void quantise(const Quantiser& quantiser, const Structure& structure, ConstBufferView latent,
                  ConstBufferView scale, BufferView effective) override {
        on_cpu([&](Visit& v) {
            cpu_->quantise(quantiser, structure, v(latent), v(scale), v(effective));
        });
    }
    void average_pairs(const Structure& structure, BufferView links) override {
        on_cpu([&](Visit& v) { cpu_->average_pairs(structure, v(links)); });
    }
    void copy_pairs(const Structure& structure, BufferView links) override {
        on_cpu([&](Visit& v) { cpu_->copy_pairs(structure, v(links)); });
    }
    void scale_gradient(std::span<const ConstBufferView> gradients,
                        std::span<const ConstBufferView> latents, BufferView out) override {
        on_cpu([&](Visit& v) { cpu_->scale_gradient(v.all(gradients), v.all(latents), v(out)); });
    }
    void move_towards_levels(ConstBufferView level, float strength, BufferView weights) override {
        on_cpu([&](Visit& v) { cpu_->move_towards_levels(v(level), strength, v(weights)); });
    }

private:
    using Word = std::uint32_t;
    struct RemoteBuffer final : Buffer {
        explicit RemoteBuffer(std::size_t count) : words(count, ~Word{0}) {}
        std::vector<Word> words;
    };
    static Word& word(BufferView v, std::size_t i) {
        return dynamic_cast<RemoteBuffer&>(*v.buffer).words.at(v.offset + i);
    }
    static Word word(ConstBufferView v, std::size_t i) {
        return dynamic_cast<const RemoteBuffer&>(*v.buffer).words.at(v.offset + i);
    }

    /// Copies of views on the CPU, for the time of one operation.
    class Visit {
    public:
        explicit Visit(RemoteBackend& home) : home_(home) {}
        ConstBufferView operator()(ConstBufferView view) { return fetch(view); }
        BufferView operator()(BufferView view) {
            const BufferView copy = fetch(view);
            if (!view.empty()) changed_.emplace_back(view, copy);
            return copy;
        }
        std::vector<ConstBufferView> all(std::span<const ConstBufferView> views) {
            std::vector<ConstBufferView> copies;
            for (const ConstBufferView& view : views) copies.push_back(fetch(view));
            return copies;
        }
        void store() {
            for (const auto& [view, copy] : changed_) {
                std::vector<float> values(view.count);
                home_.cpu_->download(copy, values);
                home_.upload(values, view);
            }
        }

    private:
        BufferView fetch(ConstBufferView view) {
            if (view.empty()) return {};
            std::vector<float> values(view.count);
            home_.download(view, values);
            copies_.push_back(home_.cpu_->allocate(view.count));
            const BufferView copy{copies_.back().get(), 0, view.count};
            home_.cpu_->upload(values, copy);
            return copy;
        }
        RemoteBackend& home_;
        std::vector<std::unique_ptr<Buffer>> copies_;
        std::vector<std::pair<BufferView, BufferView>> changed_;
    };

    template <class Work>
    void on_cpu(const Work& work) {
        Visit visit(*this);
        work(visit);
        visit.store();
        ++operations;
    }
    static LayerParameters moved(Visit& v, const LayerParameters& n) {
        return {v(n.weights), v(n.theta), v(n.gain),  v(n.step),
                v(n.beta),    v(n.omega), v(n.local), v(n.prior)};
    }
    static LayerGradients moved(Visit& v, const LayerGradients& n) {
        return {v(n.weights), v(n.theta), v(n.gain),  v(n.step),
                v(n.beta),    v(n.omega), v(n.local), v(n.prior)};
    }

    /// Passes run in one thread here, so that the count of operations needs no lock.
    template <class Pass, class Settings>
    class RemotePass : public Pass {
    public:
        RemotePass(RemoteBackend& home, std::unique_ptr<Pass> cpu)
            : home_(home), cpu_(std::move(cpu)) {}
        void start(ConstBatchView y) override { cpu_->start(y); }
        void forward(std::size_t k, Settings settings, const LayerParameters& layer) override {
            home_.on_cpu([&](Visit& v) { cpu_->forward(k, settings, moved(v, layer)); });
        }
        void read_x(std::size_t k, BatchView to) const override { cpu_->read_x(k, to); }
        double loss(RowLoss kind, ConstBatchView target, std::span<const float> weights) override {
            return cpu_->loss(kind, target, weights);
        }
        void backward(std::size_t k, Settings settings, const LayerParameters& layer,
                      const LayerGradients& gradients, Into into) override {
            home_.on_cpu([&](Visit& v) {
                cpu_->backward(k, settings, moved(v, layer), moved(v, gradients), into);
            });
        }

    private:
        RemoteBackend& home_;
        std::unique_ptr<Pass> cpu_;
    };
    using RemoteUnrolledPass = RemotePass<UnrolledPass, const LayerSettings&>;
    using RemoteLinearPass = RemotePass<LinearPass, Activation>;

    std::unique_ptr<Backend> cpu_ = make_cpu_backend();
};

}  // namespace pibinn::testing
