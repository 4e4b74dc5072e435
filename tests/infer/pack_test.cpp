#include "infer/pack.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "infer/packed_cases.hpp"
#include "pibinn/packed_model.hpp"

namespace pibinn {
namespace {

using testing::Case;
using testing::some_mask;
using testing::some_model;
using testing::spec_of;

constexpr SignLayout kFive{5, 6, 16};

/// The sign that a packed full block has for a link: +1 or -1.
int sign_at(const PackedBlock& block, const SignLayout& layout, std::size_t k, std::size_t plane,
            std::size_t row, std::size_t col) {
    for (std::size_t g = 0; g < block.groups; ++g)
        for (std::size_t b = 0; b < layout.rows_per_group; ++b) {
            if (block.group_row(g, b) != row) continue;
            const std::uint32_t* words = block.layer_signs(k) + plane * block.plane_size();
            const std::uint32_t bits = words[g / layout.groups_per_word * block.stride + col] >>
                                       (g % layout.groups_per_word * layout.rows_per_group);
            const int first = (bits >> (layout.rows_per_group - 1) & 1) != 0 ? -1 : 1;
            return b == 0 || (bits >> (b - 1) & 1) != 0 ? first : -first;
        }
    ADD_FAILURE() << "row " << row << " is in no group";
    return 0;
}

TEST(Pack, KeepsEverySignOfAFullBlock) {
    for (const SignLayout& layout : {kFive, SignLayout{3, 10, 8}, SignLayout{4, 8, 4}})
        for (const std::size_t m : {2U, 5U, 13U, 31U}) {
            const Model model = some_model(
                {"", Structure::dense(m, 7), spec_of(WeightKind::one_bit, Update::plain())}, 3);
            const PackedBlock block = pack_blocks(model, layout).at(0);
            for (std::size_t k = 0; k < model.weights.size(); ++k)
                for (std::size_t j = 0; j < 7; ++j)
                    for (std::size_t i = 0; i < m; ++i)
                        ASSERT_EQ(sign_at(block, layout, k, 0, i, j),
                                  model.weights[k][j * m + i] < 0 ? -1 : 1)
                            << m << " rows, link " << i << ", " << j;
        }
}

TEST(Pack, MakesATernaryLinkTheHalfSumOfTwoSigns) {
    Model model =
        some_model({"", Structure::dense(6, 4), spec_of(WeightKind::ternary, Update::plain())}, 3);
    constexpr float size = 0.25F;
    model.weights[0].assign(24, size);
    model.weights[0][1] = 0;
    model.weights[0][2] = -size;
    const PackedBlock block = pack_blocks(model, kFive).at(0);
    ASSERT_EQ(block.planes, 2U);
    const auto sum = [&](std::size_t row) {
        return sign_at(block, kFive, 0, 0, row, 0) + sign_at(block, kFive, 0, 1, row, 0);
    };
    EXPECT_EQ(sum(0), 2);
    EXPECT_EQ(sum(1), 0);
    EXPECT_EQ(sum(2), -2);
    EXPECT_FLOAT_EQ(block.layers[0].scale, size / 2);
}

TEST(Pack, StoresTheFirstRowsOfGroupsAsDifferenceAndSum) {
    const Model model =
        some_model({"", Structure::dense(20, 3), spec_of(WeightKind::one_bit, Update::plain())}, 3);
    const PackedBlock block = pack_blocks(model, kFive).at(0);
    ASSERT_EQ(block.groups, 4U);
    ASSERT_EQ(block.butterfly_rows(), 8U);
    ASSERT_EQ(block.main_rows, 16U);
    ASSERT_EQ(block.tail_stride, 4U);
    for (std::size_t j = 0; j < 3; ++j) {
        const auto column = model.op.values().subspan(20 * j, 20);
        for (std::size_t i = 0; i < 8; i += 2) {
            EXPECT_EQ(block.a[16 * j + i], column[i] - column[i + 1]);
            EXPECT_EQ(block.a[16 * j + i + 1], column[i] + column[i + 1]);
        }
        for (std::size_t i = 8; i < 16; ++i) EXPECT_EQ(block.a[16 * j + i], column[i]);
        for (std::size_t i = 16; i < 20; ++i) EXPECT_EQ(block.tail[4 * j + i - 16], column[i]);
    }
}

TEST(Pack, GivesEveryBlockItsPlaceAndItsOwnLinks) {
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{3, 4}, {2, 5}};
    const Model model = some_model(
        {"", Structure::blocks(shapes), spec_of(WeightKind::one_bit_channel, Update::plain())}, 3);
    const std::vector<PackedBlock> blocks = pack_blocks(model, kFive);
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[1].row, 3U);
    EXPECT_EQ(blocks[1].col, 4U);
    EXPECT_EQ(sign_at(blocks[1], kFive, 0, 0, 1, 2), model.weights[0][12 + 2 * 2 + 1] < 0 ? -1 : 1);
    float most = 0;
    for (std::size_t l = 12 + 2 * 2; l < 12 + 3 * 2; ++l)
        most = std::max(most, std::abs(model.weights[0][l]));
    EXPECT_FLOAT_EQ(blocks[1].layer_scales(0)[2], most);
}

TEST(Pack, NumbersWhatEveryLinkOfAMaskReads) {
    const Model model =
        some_model({"", some_mask(11, 37), spec_of(WeightKind::one_bit, Update::plain())}, 3);
    const PackedBlock block = pack_blocks(model, kFive).at(0);
    EXPECT_FALSE(block.full());
    ASSERT_TRUE(block.has_link_rows());
    EXPECT_TRUE(block.signs.empty());
    const std::uint16_t* rows = block.layer_link_rows(1);
    for (std::size_t j = 0; j < 48; ++j)
        for (std::size_t step = block.first_steps[j / 16]; step < block.first_steps[j / 16 + 1];
             ++step) {
            const std::size_t at = step - block.first_steps[j / 16];
            const std::size_t links = j < 37 ? block.offsets[j + 1] - block.offsets[j] : 0;
            std::size_t expected = 2 * block.minus_row;
            if (at < links) {
                const std::size_t l = block.offsets[j] + at;
                expected = block.rows[l] + (model.weights[1][l] < 0 ? block.minus_row : 0);
            }
            EXPECT_EQ(rows[16 * step + j % 16], expected) << "column " << j << ", link " << at;
        }
}

/// So many rows that 16 bits cannot number them twice.
Model tall_mask_model() {
    constexpr std::size_t m = 33000, n = 40;
    std::vector<std::uint32_t> offsets{0}, rows;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = j; i < m; i += n) rows.push_back(static_cast<std::uint32_t>(i));
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    NetworkSpec spec = spec_of(WeightKind::one_bit, Update::plain());
    spec.layers = 2;
    return some_model({"", Structure::mask(m, n, offsets, rows), spec}, 3);
}

TEST(Pack, KeepsABitForEveryLinkOfAMaskOfManyRows) {
    const Model model = tall_mask_model();
    const PackedBlock block = pack_blocks(model, kFive).at(0);
    ASSERT_FALSE(block.has_link_rows());
    for (std::size_t l = 0; l < model.weights[1].size(); ++l)
        ASSERT_EQ(block.layer_signs(1)[l / 32] >> (l % 32) & 1, model.weights[1][l] < 0 ? 0U : 1U);
    // Kernels read them.
    ThreadPool pool(1);
    const Batch y = testing::some_measurements(model, 17, 5);
    const Batch expected = recover_coefficients(model, y, pool);
    for (const std::string& kernel : packed_kernels())
        for (const std::size_t rows : {1U, 17U}) {
            const Batch x =
                PackedModel(model, kernel).recover_coefficients(y.view().row_range(0, rows), pool);
            for (std::size_t i = 0; i < x.size(); ++i)
                ASSERT_NEAR(x.values()[i], expected.values()[i], 1e-4F) << kernel;
        }
}

TEST(Pack, TakesTheSignsOfATiedNetworkFromItsOperator) {
    const Model model = some_model(
        {"", Structure::dense(13, 7), spec_of(WeightKind::tied, Update::accelerated())}, 3);
    const PackedBlock block = pack_blocks(model, kFive).at(0);
    EXPECT_EQ(block.layer_signs(4), block.layer_signs(0));
    EXPECT_EQ(block.signs.size(), block.plane_size());
    EXPECT_TRUE(block.channel_scales.empty());
    for (std::size_t j = 0; j < 7; ++j)
        for (std::size_t i = 0; i < 13; ++i)
            ASSERT_EQ(sign_at(block, kFive, 2, 0, i, j),
                      model.op.values()[j * 13 + i] < 0 ? -1 : 1);
    const float unit = pack_layers(model, 13)[2].scale;
    EXPECT_FLOAT_EQ(block.layers[2].scale, unit * model.step[2] * std::abs(model.op.values()[0]));
}

TEST(Pack, HoldsLongColumnsOfSignsAsBitsAndNoFloatsOfThem) {
    constexpr SignLayout layout{5, 6, 16, 20};
    const auto packed = [&](std::size_t m, testing::Values values) {
        const Case c{"", Structure::dense(m, 7), spec_of(WeightKind::tied, Update::plain()),
                     values};
        const Model model = some_model(c, 3);
        return std::pair(pack_blocks(model, layout).at(0), model);
    };
    const auto [block, model] = packed(83, testing::Values::usual);
    ASSERT_TRUE(block.has_sign_columns());
    EXPECT_TRUE(block.a.empty() && block.tail.empty());
    EXPECT_EQ(block.sign_size, std::abs(model.op.values()[0]));
    for (std::size_t j = 0; j < 7; ++j)
        for (std::size_t i = 0; i < 83; ++i) {
            const std::size_t bit = 4 * (i % 16) + i % 64 / 16;
            EXPECT_EQ(block.row_signs[2 * j + i / 64] >> bit & 1,
                      model.op.values()[83 * j + i] > 0 ? 1U : 0U);
        }
    // Short columns, and columns of several magnitudes, stay floats.
    EXPECT_FALSE(packed(19, testing::Values::usual).first.has_sign_columns());
    EXPECT_FALSE(packed(83, testing::Values::unit_columns).first.has_sign_columns());
}

TEST(Pack, GivesColumnsOfATiedNetworkTheirOwnScales) {
    const Model model =
        some_model({"", some_mask(11, 17), spec_of(WeightKind::tied, Update::plain()),
                    testing::Values::unit_columns},
                   3);
    const PackedBlock block = pack_blocks(model, kFive).at(0);
    for (std::size_t j = 0; j < 17; ++j)
        EXPECT_FLOAT_EQ(block.layer_scales(1)[j],
                        model.step_of(2) * std::abs(model.op.values()[block.offsets[j]]));
}

TEST(PackShrinks, SortPiecesDropThoseWithoutGainAndAddThemUp) {
    NetworkSpec spec = testing::learned_spec(WeightKind::one_bit, Update::plain());
    spec.layers = 3;
    Model model = some_model({"", Structure::dense(8, 9), spec}, 3);
    model.theta = {3, 1, 0.5F, 2, 1, 1, 2, 4, 4, 3, 2, 1};
    model.gain = {-0.5F, 0.25F, 0, 1, 1, 1, 1, -2, 0, 0, 0, 0};
    PackedBlock block;
    pack_shrinks(model, block);
    ASSERT_EQ(block.pieces, 4U);
    const auto expect = [&](std::size_t k, const std::vector<float>& numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i)
            EXPECT_FLOAT_EQ(block.layer_shrink(k)[i], numbers[i]) << "number " << i;
    };
    // Thresholds, offsets, slopes; the last piece once more where there are fewer.
    expect(0, {1, 2, 3, 3, -0.25F, -2.25F, -0.75F, -0.75F, 0.25F, 1.25F, 0.75F, 0.75F});
    expect(1, {1, 1, 2, 4, -1, -2, -4, 4, 1, 2, 3, 1});
    expect(2, {4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(PackLayers, OfAPlainNetworkHaveNoUnits) {
    const Model model =
        some_model({"", Structure::dense(8, 9), spec_of(WeightKind::one_bit, Update::plain())}, 3);
    for (const PackedLayer& layer : pack_layers(model, 8)) {
        EXPECT_EQ(layer.scale, 1.0F);
        EXPECT_EQ(layer.y_factor, 1.0F);
        EXPECT_EQ(layer.x_unit, 1.0F);
        EXPECT_EQ(layer.prev_x_factor, 0.0F);
        EXPECT_EQ(layer.prev_residual_factor, 0.0F);
        EXPECT_FALSE(layer.rescales() || layer.mixes());
    }
}

/// docs/kernels.md derives these for the second and third layer of a network with momentum.
TEST(PackLayers, FoldMomentumAndDeltaIntoUnits) {
    NetworkSpec spec = spec_of(WeightKind::one_bit, {false, true, false}, Activation::soft, 0.5);
    spec.layers = 3;
    Model model = some_model({"", Structure::dense(8, 9), spec}, 3);
    model.beta = {0.7F, 0.6F, 0.25F};
    model.theta = {0.1F, 0.2F, 0.4F};
    const std::vector<PackedLayer> layers = pack_layers(model, 8);
    // c is 1 in the second layer, whose factor delta (1 + beta) is 0.8: the next c is 1.25.
    EXPECT_FLOAT_EQ(layers[1].y_factor, 1.0F);
    EXPECT_FLOAT_EQ(layers[1].scale, 1.6F / 0.8F);
    EXPECT_FLOAT_EQ(layers[1].prev_residual_factor, 0.6F / 1.6F);
    EXPECT_FLOAT_EQ(layers[1].prev_x_factor, 0.5F * 0.6F / 0.8F);
    EXPECT_FLOAT_EQ(layers[1].theta, 0.2F * 1.25F);
    EXPECT_FLOAT_EQ(layers[1].x_unit, 0.8F);
    EXPECT_FLOAT_EQ(layers[2].y_factor, 1.25F);
    EXPECT_FLOAT_EQ(layers[2].prev_residual_factor, 0.25F / (1.25F * 0.8F));
    EXPECT_FLOAT_EQ(layers[2].x_unit, 0.5F);
}

TEST(PackLayers, MixWhereTheUnitCannotFollowAndRescaleWhereItWentFar) {
    NetworkSpec spec = spec_of(WeightKind::one_bit, {false, true, false}, Activation::soft, 0.05);
    Model model = some_model({"", Structure::dense(8, 9), spec}, 3);
    for (std::size_t k = 0; const PackedLayer& layer : pack_layers(model, 8))
        EXPECT_EQ(layer.mixes(), k++ > 0);
    spec.delta = 0.5;
    spec.layers = 40;
    model = some_model({"", Structure::dense(8, 9), spec}, 3);
    std::fill(model.beta.begin(), model.beta.end(), 0.0F);
    bool rescaled = false;
    for (const PackedLayer& layer : pack_layers(model, 8)) {
        rescaled |= layer.rescales();
        EXPECT_EQ(std::exp2(std::round(std::log2(layer.rescale))), layer.rescale);
        EXPECT_LE(layer.y_factor, 0x1p13F);
    }
    EXPECT_TRUE(rescaled);
}

TEST(PackLayers, NeverHaveANegativeZeroAsThreshold) {
    Model model =
        some_model({"", Structure::dense(8, 9), spec_of(WeightKind::one_bit, Update::plain())}, 3);
    std::fill(model.theta.begin(), model.theta.end(), -0.0F);
    for (const PackedLayer& layer : pack_layers(model, 8)) EXPECT_FALSE(std::signbit(layer.theta));
}

}  // namespace
}  // namespace pibinn
