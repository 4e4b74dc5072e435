#include "infer/sign_fragments.hpp"

#include <array>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "pibinn/random.hpp"

namespace pibinn {
namespace {

constexpr unsigned kWarps = 8, kBands = 2;

/// Signs of a factor, input by input.
struct Signs {
    std::size_t depth, width;
    std::vector<float> values;
    float at(std::size_t input, std::size_t output) const { return values[input * width + output]; }
    std::vector<std::uint32_t> packed(const SignTiles& tiles) const {
        return pack_signs(tiles, depth, width,
                          [&](std::size_t d, std::size_t o) { return at(d, o) < 0; });
    }
};

Signs some_signs(std::size_t depth, std::size_t width) {
    Stream stream(7, Purpose::tests);
    Signs signs{depth, width, std::vector<float>(depth * width)};
    for (float& v : signs.values) v = stream.uniform() < 0.5 ? -1.0F : 1.0F;
    return signs;
}

/// A float16 number that is +-1; 0 where it is anything else.
float sign_of_half(std::uint32_t bits) {
    return bits == 0x3C00U ? 1.0F : (bits == 0xBC00U ? -1.0F : 0.0F);
}
float half_of(std::uint32_t pair, unsigned h) { return sign_of_half(pair >> (16 * h) & 0xFFFFU); }

struct Shape {
    SignTiles tiles;
    std::size_t depth, width;
};
/// Whole and broken, of all numbers of tiles per warp.
const std::vector<Shape>& shapes() {
    static const std::vector<Shape> all{
        {{kWarps, 4, 32}, 512, 256}, {{kWarps, 8, 16}, 256, 512}, {{kWarps, 4, 32}, 333, 200},
        {{kWarps, 8, 16}, 200, 333}, {{kWarps, 2, 32}, 512, 10},  {{kWarps, 8, 8}, 10, 512},
        {{kWarps, 4, 8}, 64, 130},   {{kWarps, 2, 8}, 104, 57},   {{kWarps, 2, 8}, 1, 1}};
    return all;
}

// Lane l, register i, half h: the entry of input 2 (l % 4) + 8 i + h and output l / 4.
TEST(SignFragments, GiveEveryLaneTheSignsOfItsEntries) {
    for (const Shape& shape : shapes()) {
        const SignTiles& tiles = shape.tiles;
        const Signs signs = some_signs(shape.depth, shape.width);
        const auto words = signs.packed(tiles);
        ASSERT_EQ(words.size(), tiles.words());
        std::size_t wrong = 0, seen = 0;
        for (unsigned warp = 0; warp < tiles.warps; ++warp)
            for (unsigned step = 0; step < tiles.steps; ++step)
                for (unsigned tile = 0; tile < tiles.tiles; ++tile)
                    for (unsigned e = 0; e < 4 * kLanes; ++e) {
                        const unsigned lane = e / 4, i = e / 2 % 2, h = e % 2;
                        const std::size_t input = 16 * step + 2 * (lane % 4) + 8 * i + h;
                        const std::size_t output = 8 * (tiles.tiles * warp + tile) + lane / 4;
                        const auto word =
                            words[tiles.word(warp, step / tiles.steps_per_word(), lane)];
                        const float got =
                            half_of(sign_pair(word, tiles.fragment(step, tile), i), h);
                        const bool in = input < shape.depth && output < shape.width;
                        seen += in ? 1 : 0;
                        wrong += got != (in ? signs.at(input, output) : 1.0F) ? 1 : 0;
                    }
        EXPECT_EQ(wrong, 0U) << shape.depth << " x " << shape.width;
        EXPECT_EQ(seen, shape.depth * shape.width);
    }
}

using Sums = std::array<float, 4>;  ///< of one lane
/// A lane's eight entries of the first factor: signal l / 4 + 8 (i % 2), input 2 (l % 4) + 8 (i /
/// 2)
/// + h, for register i and half h.
using First = std::array<float, 8>;

/// mma.m16n8k16: what 32 lanes hold of 16 x 16 times 16 x 8.
std::array<Sums, kLanes> multiply(const std::array<First, kLanes>& first,
                                  const std::array<std::array<float, 4>, kLanes>& second) {
    float a[16][16], b[16][8];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned e = 0; e < 8; ++e)
            a[lane / 4 + 8 * (e / 2 % 2)][2 * (lane % 4) + 8 * (e / 4) + e % 2] = first[lane][e];
        for (unsigned e = 0; e < 4; ++e)
            b[2 * (lane % 4) + 8 * (e / 2) + e % 2][lane / 4] = second[lane][e];
    }
    std::array<Sums, kLanes> sums{};
    for (unsigned lane = 0; lane < kLanes; ++lane)
        for (unsigned e = 0; e < 4; ++e)
            for (unsigned k = 0; k < 16; ++k)
                sums[lane][e] += a[lane / 4 + 8 * (e / 2)][k] * b[k][2 * (lane % 4) + e % 2];
    return sums;
}

/// The first factors of all steps as warps leave them in shared memory: `from` says how the warps
/// that made the numbers dealt out their columns, and each warp joins two neighbouring tiles.
std::vector<First> written_factors(const SignTiles& from, const std::vector<float>& rows,
                                   std::size_t depth) {
    const unsigned steps = from.warps * from.tiles / 2;
    std::vector<First> factors(steps * kBands * kLanes);
    for (unsigned warp = 0; warp < from.warps; ++warp)
        for (unsigned band = 0; band < kBands; ++band)
            for (unsigned lane = 0; lane < kLanes; ++lane)
                for (unsigned tile = 0; tile < from.tiles; ++tile)
                    for (unsigned e = 0; e < 4; ++e) {
                        const std::size_t row = 16 * band + lane / 4 + 8 * (e / 2);
                        const std::size_t column = from.output(warp, tile, lane) + e % 2;
                        const unsigned step = from.tiles / 2 * warp + tile / 2;
                        factors[factor_word(step, band, kBands, 0, 1, lane)][4 * (tile % 2) + e] =
                            column < depth ? rows[row * depth + column] : 0.0F;
                    }
    return factors;
}

// All the arithmetic on places that a kernel does for one product.
TEST(SignFragments, MultiplyAsTheirMatrixDoes) {
    for (const Shape& shape : shapes()) {
        const SignTiles& tiles = shape.tiles;
        const SignTiles from{kWarps, 2 * tiles.steps / kWarps, 0};
        const Signs signs = some_signs(shape.depth, shape.width);
        const auto words = signs.packed(tiles);
        Stream stream(8, Purpose::tests);
        std::vector<float> rows(16 * kBands * shape.depth);  // whole numbers: sums are exact
        for (float& v : rows) v = static_cast<float>(static_cast<int>(100 * stream.uniform()) - 50);
        const auto factors = written_factors(from, rows, shape.depth);
        std::size_t wrong = 0, seen = 0;
        for (unsigned warp = 0; warp < tiles.warps; ++warp)
            for (unsigned tile = 0; tile < tiles.tiles; ++tile)
                for (unsigned band = 0; band < kBands; ++band) {
                    std::array<Sums, kLanes> sums{};
                    const unsigned groups = tiles.groups_for(static_cast<unsigned>(shape.depth));
                    for (unsigned step = 0; step < groups * tiles.steps_per_word(); ++step) {
                        std::array<First, kLanes> first;
                        std::array<std::array<float, 4>, kLanes> second;
                        for (unsigned lane = 0; lane < kLanes; ++lane) {
                            first[lane] = factors[factor_word(step, band, kBands, 0, 1, lane)];
                            const auto word =
                                words[tiles.word(warp, step / tiles.steps_per_word(), lane)];
                            for (unsigned e = 0; e < 4; ++e)
                                second[lane][e] = half_of(
                                    sign_pair(word, tiles.fragment(step, tile), e / 2), e % 2);
                        }
                        const auto products = multiply(first, second);
                        for (unsigned lane = 0; lane < kLanes; ++lane)
                            for (unsigned e = 0; e < 4; ++e) sums[lane][e] += products[lane][e];
                    }
                    for (unsigned e = 0; e < 4 * kLanes; ++e) {
                        const unsigned lane = e / 4, c = e % 4;
                        const std::size_t row = 16 * band + lane / 4 + 8 * (c / 2);
                        const std::size_t output = tiles.output(warp, tile, lane) + c % 2;
                        if (output >= shape.width) continue;
                        float expected = 0;
                        for (std::size_t d = 0; d < shape.depth; ++d)
                            expected += rows[row * shape.depth + d] * signs.at(d, output);
                        wrong += sums[lane][c] != expected ? 1 : 0;
                        ++seen;
                    }
                }
        EXPECT_EQ(wrong, 0U) << shape.depth << " x " << shape.width;
        EXPECT_EQ(seen, 16 * kBands * shape.width);
    }
}

TEST(SignFragments, AreOfMatricesOfOneMagnitudeAlone) {
    EXPECT_EQ(sign_unit(std::vector<float>{0.5F, -0.5F, -0.5F}), 0.5F);
    EXPECT_EQ(sign_unit(std::vector<float>{-0.25F}), 0.25F);
    EXPECT_EQ(sign_unit(std::vector<float>{0.5F, 0.0F}), 0.0F);
    EXPECT_EQ(sign_unit(std::vector<float>{0.0F, 0.0F}), 0.0F);
    EXPECT_EQ(sign_unit(std::vector<float>{0.5F, 0.5000001F}), 0.0F);
    EXPECT_EQ(sign_unit(std::vector<float>{std::numeric_limits<float>::infinity()}), 0.0F);
    EXPECT_EQ(sign_unit({}), 0.0F);
}

}  // namespace
}  // namespace pibinn
