#include "model/link_codes.hpp"

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Two layers of the 2 x 3 links given, column by column.
Model model_of_links(WeightKind kind, const std::vector<std::vector<float>>& layers) {
    Model model;
    model.spec.layers = layers.size();
    model.spec.weights = kind;
    model.op = Operator(Structure::dense(2, 3), AlignedBuffer<float>(6, 1.0F));
    for (const auto& layer : layers) model.weights.emplace_back(layer.begin(), layer.end());
    return model;
}

Model unpacked(const Model& like, const LinkCodes& codes) {
    Model model = like;
    model.weights.clear();
    unpack_links(codes.bits, codes.scales, "a file", model);
    return model;
}

std::string refusal(const Model& like, const LinkCodes& codes) {
    try {
        unpacked(like, codes);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        return error.message();
    }
    return "no refusal";
}

TEST(LinkCodes, TheFirstLinkHasTheLowestBitAndLayersFollowWithoutPadding) {
    const Model model = model_of_links(
        WeightKind::one_bit,
        {{0.5F, -0.5F, -0.5F, -0.5F, -0.5F, 0.5F}, {0.5F, 0.5F, -0.5F, -0.5F, -0.5F, -0.5F}});
    const LinkCodes codes = pack_links(model);
    EXPECT_EQ(codes.bits, (Bytes{0b11100001, 0b0000}));
    EXPECT_EQ(codes.scales, std::vector<float>{0.5F});
    EXPECT_EQ(unpacked(model, codes).weights, model.weights);
}

TEST(LinkCodes, TernaryTakesTwoBitsPerLinkInTwosComplement) {
    const Model model = model_of_links(WeightKind::ternary, {{0.25F, -0.25F, 0, 0.25F, 0, -0.25F}});
    const LinkCodes codes = pack_links(model);
    EXPECT_EQ(codes.bits, (Bytes{0b01001101, 0b1100}));
    EXPECT_EQ(codes.scales, std::vector<float>{0.25F});
    EXPECT_EQ(unpacked(model, codes).weights, model.weights);
}

TEST(LinkCodes, ScalesAreStoredPerLayerOrPerOutput) {
    const std::vector<std::vector<float>> by_layer{{1, -1, 1, 1, 1, 1}, {2, 2, -2, 2, 2, 2}};
    EXPECT_EQ(pack_links(model_of_links(WeightKind::one_bit_layer, by_layer)).scales,
              (std::vector<float>{1, 2}));
    const Model channels =
        model_of_links(WeightKind::one_bit_channel, {{1, -1, 2, 2, -3, 3}, {4, 4, 5, -5, 0, 0}});
    const LinkCodes codes = pack_links(channels);
    EXPECT_EQ(codes.scales, (std::vector<float>{1, 2, 3, 4, 5, 0}));
    EXPECT_EQ(unpacked(channels, codes).weights, channels.weights);
}

TEST(LinkCodes, AFileThatLiesIsRefusedWithWhatIsWrong) {
    const Model model = model_of_links(WeightKind::ternary, {{1, 0, 0, 0, 0, -1}});
    const LinkCodes good = pack_links(model);
    LinkCodes codes = good;
    codes.scales.push_back(1);
    EXPECT_EQ(refusal(model, codes), "a file: expected 1 scales, got 2");
    codes = good;
    codes.bits.pop_back();
    EXPECT_EQ(refusal(model, codes), "a file: expected 2 bytes of weights, got 1");
    codes = good;
    codes.bits[0] |= 0b1000;
    EXPECT_EQ(refusal(model, codes), "a file: link 1 of layer 1 has the unused code 2");
}

TEST(LinkCodes, BitsComeBack) {
    const std::vector<bool> bits{true, false, false, true, true, true, false, true, false};
    const Bytes bytes = pack_bits(bits);
    EXPECT_EQ(bytes, (Bytes{0b10111001, 0b0}));
    EXPECT_EQ(unpack_bits(bytes, bits.size()), bits);
}

}  // namespace
}  // namespace pibinn
