// room: core
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pibinn {

/// What a stream of random numbers is for. Each purpose has numbers of its own, so adding a use
/// never changes the others. Values are part of the format: append, never renumber.
enum class Purpose : std::uint32_t {
    operator_entries = 1,
    train_signals = 2,
    train_noise = 3,
    test_signals = 4,
    test_noise = 5,
    weights = 6,
    shuffle = 7,
    augment = 8,
    mask = 9,
    patches = 10,
    split = 11,
    train_disturbance = 12,
    test_disturbance = 13,
    supports = 14,
    guarantee = 15,
    attack = 16,
    tests = 99,
};

/// A counter-based stream (Philox4x32-10 of Random123): number i is a pure function of
/// (seed, purpose, index, i), so any thread or device can draw any part of it.
///
/// Block b of a stream is philox4x32(counter, key) with
///     counter = {low 32 bits of b, index low, index high, purpose},   key = {seed low, seed high}
/// and number i is word i % 4 of block i / 4. On top of these 32-bit words u:
///     uniform    (u + 0.5) / 2^32, in float64; one word; never 0 or 1
///     bernoulli  uniform < p; one word
///     below n    (u * n) >> 32 in 64-bit; one word; bias below n / 2^32
///     normal     Box-Muller in float64 on the uniforms u1, u2 of two words:
///                sqrt(-2 ln u1) cos(2 pi u2); two words a number
/// Everything but `normal` is exact on any device; `normal` rests on the device's ln and cos.
class Stream {
public:
    Stream(std::uint64_t seed, Purpose purpose, std::uint64_t index = 0);

    std::uint32_t word();
    double uniform();
    bool bernoulli(double p) { return uniform() < p; }
    std::uint32_t below(std::uint32_t n);
    double normal();

    /// Fisher-Yates from the back: for i = n-1 .. 1 swap(p[i], p[below(i + 1)]).
    std::vector<std::uint32_t> permutation(std::size_t n);

private:
    std::uint64_t seed_;
    std::uint64_t index_;
    std::uint32_t purpose_;
    std::uint32_t block_ = 0;
    std::uint32_t used_ = 4;
    std::uint32_t words_[4] = {};
};

}  // namespace pibinn
