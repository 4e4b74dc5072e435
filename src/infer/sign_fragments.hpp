#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pibinn {

// The factors of mma.m16n8k16 where the second one is made of signs: sums of 16 x 8 (signals by
// outputs) over a step of 16 inputs. Of the second factor, lane l holds two registers of two
// float16 numbers: half h of register i is the entry of input 2 (l % 4) + 8 i + h for output l / 4.
// The signs of eight such fragments are one word, whose shifts give the sixteen registers.

constexpr unsigned kLanes = 32;
constexpr unsigned kFragmentsPerWord = 8;
constexpr unsigned kTileWidth = 8, kStepDepth = 16;

constexpr std::uint32_t kSignMask = 0x80008000U, kOnes = 0x3C003C00U;  ///< of two float16 numbers

/// Two float16 numbers, +-1 each: register `i` of a fragment of a word.
constexpr std::uint32_t sign_pair(std::uint32_t word, unsigned fragment, unsigned i) {
    return ((word << (2 * fragment + i)) & kSignMask) | kOnes;
}
/// Where the sign of half `h` stands in the word.
constexpr unsigned sign_bit(unsigned fragment, unsigned i, unsigned h) {
    return 15 + 16 * h - (2 * fragment + i);
}

/// How a product is dealt to the warps of a block: each takes `tiles` neighbouring tiles of eight
/// outputs, and `steps` steps of sixteen inputs. A word holds all tiles of one or more steps.
struct SignTiles {
    unsigned warps, tiles, steps;

    constexpr unsigned steps_per_word() const { return kFragmentsPerWord / tiles; }
    constexpr unsigned groups() const { return steps / steps_per_word(); }
    constexpr unsigned words() const { return warps * groups() * kLanes; }
    constexpr unsigned word(unsigned warp, unsigned group, unsigned lane) const {
        return (warp * groups() + group) * kLanes + lane;
    }
    constexpr unsigned fragment(unsigned step, unsigned tile) const {
        return step % steps_per_word() * tiles + tile;
    }
    /// The first of the two neighbouring outputs whose sums a lane holds, for two signals.
    constexpr unsigned output(unsigned warp, unsigned tile, unsigned lane) const {
        return kTileWidth * (tiles * warp + tile) + 2 * (lane % 4);
    }
    /// Groups that hold inputs below `depth`.
    constexpr unsigned groups_for(unsigned depth) const {
        const unsigned inputs = kStepDepth * steps_per_word();
        return (depth + inputs - 1) / inputs;
    }
};

/// Where a lane's four registers of the first factor stand, in units of 16 bytes. A `band` is
/// sixteen signals, a `part` one of the float16 numbers that activations are split into.
constexpr unsigned factor_word(unsigned step, unsigned band, unsigned bands, unsigned part,
                               unsigned parts, unsigned lane) {
    return ((step * bands + band) * parts + part) * kLanes + lane;
}

/// The words of a factor whose entry of input d and output o is below zero where `negative(d, o)`
/// says so. Entries outside are positive: their inputs are zeros, and nobody reads their outputs.
template <class Negative>
std::vector<std::uint32_t> pack_signs(const SignTiles& tiles, std::size_t depth, std::size_t width,
                                      const Negative& negative) {
    std::vector<std::uint32_t> words(tiles.words());
    for (unsigned warp = 0; warp < tiles.warps; ++warp)
        for (unsigned step = 0; step < tiles.steps; ++step)
            for (unsigned tile = 0; tile < tiles.tiles; ++tile)
                for (unsigned lane = 0; lane < kLanes; ++lane)
                    for (unsigned e = 0; e < 4; ++e) {
                        const unsigned i = e / 2, h = e % 2;
                        const std::size_t input = kStepDepth * step + 2 * (lane % 4) + 8 * i + h;
                        const std::size_t output =
                            kTileWidth * (tiles.tiles * warp + tile) + lane / 4;
                        if (input >= depth || output >= width || !negative(input, output)) continue;
                        words[tiles.word(warp, step / tiles.steps_per_word(), lane)] |=
                            1U << sign_bit(tiles.fragment(step, tile), i, h);
                    }
    return words;
}

/// The magnitude of all entries, where it is one and not zero; otherwise 0.
inline float sign_unit(std::span<const float> matrix) {
    if (matrix.empty()) return 0;
    const float unit = std::abs(matrix[0]);
    if (!std::isfinite(unit)) return 0;
    for (const float v : matrix)
        if (std::abs(v) != unit) return 0;
    return unit;
}

}  // namespace pibinn
