#include "pibinn/random.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include <Random123/philox.h>

namespace pibinn {

Stream::Stream(std::uint64_t seed, Purpose purpose, std::uint64_t index)
    : seed_(seed), index_(index), purpose_(static_cast<std::uint32_t>(purpose)) {}

std::uint32_t Stream::word() {
    if (used_ == 4) {
        const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
        const r123::Philox4x32::ctr_type counter{
            {block_++, low(index_), low(index_ >> 32), purpose_}};
        const r123::Philox4x32::key_type key{{low(seed_), low(seed_ >> 32)}};
        const auto block = r123::Philox4x32()(counter, key);
        for (std::size_t i = 0; i < 4; ++i) words_[i] = block[i];
        used_ = 0;
    }
    return words_[used_++];
}

double Stream::uniform() { return (static_cast<double>(word()) + 0.5) * 0x1p-32; }

std::uint32_t Stream::below(std::uint32_t n) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word()) * n) >> 32);
}

double Stream::normal() {
    const double u1 = uniform();
    const double u2 = uniform();
    return std::sqrt(-2.0 * std::log(u1)) * std::cos(2.0 * std::numbers::pi * u2);
}

std::vector<std::uint32_t> Stream::permutation(std::size_t n) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t i = n; i-- > 1;)
        std::swap(order[i], order[below(static_cast<std::uint32_t>(i + 1))]);
    return order;
}

}  // namespace pibinn
