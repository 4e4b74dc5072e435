#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pibinn/certificate.hpp"
#include "pibinn/error.hpp"
#include "pibinn/random.hpp"
#include "spectral/block_network.hpp"

namespace pibinn {

namespace {

/// N(0, 1) on the support. A zero would leave the support: as rare as it is, it becomes 1.
void fill(std::span<float> x, std::span<const std::uint32_t> support, double B, Stream& stream) {
    double square = 0;
    for (const std::uint32_t j : support) {
        x[j] = static_cast<float>(stream.normal());
        if (x[j] == 0) x[j] = 1;
        square += double{x[j]} * x[j];
    }
    const double shrink = std::sqrt(square) > B ? B / std::sqrt(square) : 1.0;
    for (const std::uint32_t j : support) x[j] = static_cast<float>(x[j] * shrink);
}

/// Every block must have as many measurements as the support has entries in it.
void require_enough_measurements(const Structure& s, std::span<const std::uint32_t> sorted) {
    const std::size_t period = s.cols() / s.repeat();
    for (std::size_t u = 0; u < s.repeat(); ++u)
        for (const Block& b : s.parts()) {
            const std::size_t first = u * period + b.col;
            const auto entries = std::lower_bound(sorted.begin(), sorted.end(), first + b.cols) -
                                 std::lower_bound(sorted.begin(), sorted.end(), first);
            if (static_cast<std::size_t>(entries) > b.rows)
                fail_usage(
                    fmt::format("the support has {} entries in a block of {} x {}: more than its "
                                "measurements",
                                entries, b.rows, b.cols),
                    fmt::format("no theory tells them apart: name at most {}", b.rows));
        }
}

}  // namespace

Batch signals_on_support(const Model& model, std::span<const std::uint32_t> support,
                         std::size_t count, double B, std::uint64_t seed) {
    if (support.empty())
        fail_usage("an empty support has nothing to certify", "name its entries, from 0 on");
    for (const std::uint32_t j : support)
        if (j >= model.op.cols())
            fail_usage(fmt::format("support entry {} is not below n = {}", j, model.op.cols()),
                       "entries count from 0");
    std::vector<std::uint32_t> sorted(support.begin(), support.end());
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
        fail_usage(fmt::format("support entry {} is named twice", *twice), "name it once");
    require_enough_measurements(model.op.structure(), sorted);
    Batch x(count, model.op.cols());
    for (std::size_t i = 0; i < count; ++i) {
        Stream stream(seed, Purpose::supports, i);
        fill(x.row(i), sorted, B, stream);
    }
    return x;
}

Batch signals_on_supports(const Model& model,
                          const std::vector<std::vector<std::uint32_t>>& supports,
                          std::size_t count, double B, std::uint64_t seed) {
    const std::size_t each = (count + supports.size() - 1) / supports.size();
    Batch all(each * supports.size(), model.op.cols());
    for (std::size_t p = 0; p < supports.size(); ++p) {
        const Batch part = signals_on_support(model, supports[p], each, B, seed + p);
        for (std::size_t i = 0; i < each; ++i)
            std::copy(part.row(i).begin(), part.row(i).end(), all.row(p * each + i).begin());
    }
    return all;
}

Batch signals_of_size(const Model& model, std::size_t size, std::size_t count, double B,
                      std::uint64_t seed) {
    const std::span<const Block> blocks = model.op.structure().parts();
    for (const Block& b : blocks)
        if (size == 0 || size > b.rows || size > b.cols)
            fail_usage(
                fmt::format("supports of {} entries of a block of {} x {}", size, b.rows, b.cols),
                fmt::format("give a size from 1 to {}", std::min(b.rows, b.cols)));
    Batch x(count, model.op.cols());
    for (std::size_t i = 0; i < count; ++i) {
        Stream stream(seed, Purpose::supports, i);
        const Block& b = blocks[stream.below(static_cast<std::uint32_t>(blocks.size()))];
        const auto order = stream.permutation(b.cols);
        std::vector<std::uint32_t> support;
        for (std::size_t j = 0; j < size; ++j)
            support.push_back(static_cast<std::uint32_t>(b.col) + order[j]);
        fill(x.row(i), support, B, stream);
    }
    return x;
}

}  // namespace pibinn
