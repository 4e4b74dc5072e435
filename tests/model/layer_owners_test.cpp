#include "model/layer_owners.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

/// A rank that nobody talks to.
class SilentRank final : public Communicator {
public:
    SilentRank(std::size_t rank, std::size_t size) : rank_(rank), size_(size) {}
    std::size_t rank() const override { return rank_; }
    std::size_t size() const override { return size_; }
    void broadcast(std::span<std::byte>, std::size_t) override { refuse(); }
    void all_gather(std::span<const std::byte>, std::span<std::byte>) override { refuse(); }
    void exchange(std::span<const std::span<const std::byte>>,
                  std::span<const std::span<std::byte>>) override {
        refuse();
    }
    void barrier() override { refuse(); }
    std::unique_ptr<OrderedSum> ordered_sum(std::vector<SumPiece>, std::size_t, AddOwn) override {
        refuse();
    }
    std::string ask(std::string_view) override { refuse(); }
    bool answer(const Answer&) override { refuse(); }
    std::unique_ptr<SharedFile> open_here(const std::filesystem::path&, bool) override { refuse(); }
    void while_waiting(std::function<void()>) override {}
    [[noreturn]] void abort(int) noexcept override { std::abort(); }

private:
    [[noreturn]] static void refuse() { fail_usage("nobody is there", "start several by mpirun"); }
    std::size_t rank_, size_;
};

std::shared_ptr<const ParameterLayout> layout(std::size_t layers,
                                              WeightKind kind = WeightKind::real) {
    NetworkSpec spec;
    spec.layers = layers;
    spec.weights = kind;
    return std::make_shared<const ParameterLayout>(spec, Structure::dense(3, 5));
}

TEST(LayerOwners, EveryLayerHasOneOwnerAndRankZeroHasTheLastOnes) {
    for (const std::size_t ranks : {1, 2, 3, 4, 7, 20})
        for (const std::size_t layers : {1, 2, 10}) {
            std::size_t owned = 0;
            for (std::size_t r = 0; r < ranks; ++r) {
                SilentRank rank(r, ranks);
                const LayerOwners owners(layout(layers), rank);
                const std::vector<std::size_t> own = owners.own();
                owned += own.size();
                // One run of layers: it is sent as one message.
                if (!own.empty()) {
                    EXPECT_EQ(own.back() - own.front() + 1, own.size());
                }
                EXPECT_LE(own.size(), (layers + ranks - 1) / ranks);
                for (std::size_t k = 1; k <= layers; ++k) {
                    EXPECT_LT(owners.of(k), ranks);
                    EXPECT_EQ(owners.here(k), std::count(own.begin(), own.end(), k) == 1);
                    if (k > 1) {
                        EXPECT_LE(owners.of(k), owners.of(k - 1));
                    }
                }
            }
            EXPECT_EQ(owned, layers) << ranks;
        }
}

TEST(LayerOwners, OneProcessAndTiedWeightsSendNothing) {
    const std::unique_ptr<Backend> backend = make_cpu_backend();
    DeviceParameters real(layout(4), *backend);
    const LayerOwners one(layout(4));
    EXPECT_FALSE(one.several());
    EXPECT_EQ(one.own().size(), 4U);
    EXPECT_NO_THROW(one.share(real, *backend));
    SilentRank rank(1, 2);
    const auto tied = layout(4, WeightKind::tied);
    DeviceParameters numbers(tied, *backend);
    EXPECT_NO_THROW(LayerOwners(tied, rank).share(numbers, *backend));
    EXPECT_THROW(LayerOwners(layout(4), rank).share(real, *backend), Error);
}

}  // namespace
}  // namespace pibinn
