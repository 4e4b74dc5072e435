#include "infer/kernel_choice.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "infer/pack.hpp"
#include "infer/packed_cases.hpp"
#include "pibinn/error.hpp"

namespace pibinn {
namespace {

using testing::some_mask;
using testing::some_model;
using testing::spec_of;

PackedBlock block_of(const Structure& structure, const KernelChoice& choice) {
    const Model model =
        some_model({"", structure, spec_of(WeightKind::one_bit, Update::accelerated())}, 3);
    return pack_blocks(model, choice.set.layout).at(0);
}

bool has_vector_kernel() { return choose_kernel("auto").set.vector != nullptr; }

TEST(KernelChoice, AutoIsTheFirstInstructionSetAndLeavesTheKernelOpen) {
    const KernelChoice choice = choose_kernel("auto");
    EXPECT_EQ(choice.name, kernel_choices().front());
    EXPECT_EQ(choice.strategy, KernelStrategy::automatic);
    EXPECT_EQ(choice.name.find('/'), std::string::npos);
}

TEST(KernelChoice, EveryNameIsTakenAsItIs) {
    for (const std::string& name : kernel_choices()) {
        const KernelChoice choice = choose_kernel(name);
        EXPECT_EQ(choice.name, name);
        EXPECT_EQ(choice.strategy, name.starts_with("vector/") ? KernelStrategy::vector
                                   : name.starts_with("tile/") ? KernelStrategy::tile
                                                               : KernelStrategy::automatic);
    }
}

TEST(KernelChoice, RefusesAnUnknownNameAndSuggestsANearOne) {
    const std::string near = "tiles/" + kernel_choices().front();
    try {
        choose_kernel(near);
        FAIL() << "an unknown kernel was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        const std::string text = std::string(error.what()) + error.hint();
        EXPECT_NE(text.find("'" + near + "'"), std::string::npos) << text;
        EXPECT_NE(text.find("tile/" + kernel_choices().front()), std::string::npos) << text;
    }
}

TEST(KernelChoice, TakesAFullBlockInRegistersAllRowsAtOnce) {
    if (!has_vector_kernel()) GTEST_SKIP() << "skipped: this machine has no vector kernel";
    const KernelChoice choice = choose_kernel("auto");
    const PackedBlock block = block_of(Structure::dense(50, 100), choice);
    for (const std::size_t left : {1U, 4U, 5U, 100U}) {
        const KernelChoice::Step step = choice.step(block, left);
        EXPECT_EQ(step.kernel, choice.set.vector);
        EXPECT_EQ(step.rows, left);
    }
    EXPECT_EQ(choice.rows_at_a_time(block), kInterleave);
}

TEST(KernelChoice, TakesATinyBlockInTilesWhereThereAreFiveRows) {
    if (!has_vector_kernel()) GTEST_SKIP() << "skipped: this machine has no vector kernel";
    const KernelChoice choice = choose_kernel("auto");
    const PackedBlock block = block_of(Structure::dense(4, 8), choice);
    EXPECT_EQ(choice.step(block, 4).kernel, choice.set.vector);
    EXPECT_EQ(choice.step(block, 5).kernel, choice.set.tile);
    EXPECT_EQ(choice.step(block, 40).rows, kTile);
    // Asked for by name, the vector kernel takes it all the same.
    const KernelChoice vector = choose_kernel("vector/" + choice.name);
    EXPECT_EQ(vector.step(block, 40).kernel, choice.set.vector);
}

TEST(KernelChoice, TakesAMaskInTilesOrOneRowAtATime) {
    for (const std::string& name : kernel_choices()) {
        const KernelChoice choice = choose_kernel(name);
        const PackedBlock mask = block_of(some_mask(11, 17), choice);
        EXPECT_EQ(choice.step(mask, 20).kernel, choice.set.tile);
        EXPECT_EQ(choice.step(mask, 20).rows, kTile);
        const bool automatic = choice.strategy == KernelStrategy::automatic;
        EXPECT_EQ(choice.step(mask, 100).rows, automatic ? kMaskTile : kTile);
        EXPECT_EQ(choice.rows_at_a_time(mask), automatic ? kMaskTile : kTile);
        const KernelChoice::Step few = choice.step(mask, 4);
        if (choice.strategy == KernelStrategy::tile) {
            EXPECT_EQ(few.kernel, choice.set.tile);
        } else {
            EXPECT_EQ(few.kernel, choice.set.single);
            EXPECT_EQ(few.rows, 1U);
        }
    }
}

TEST(KernelChoice, AsksForTheWorkspaceOfTheLargestKernelItMayTake) {
    const KernelChoice choice = choose_kernel("auto");
    const PackedBlock tiny = block_of(Structure::dense(4, 8), choice);
    EXPECT_GE(choice.workspace_floats(tiny), tile_workspace_floats(tiny, choice.set.layout));
    if (has_vector_kernel()) {
        EXPECT_GE(choice.workspace_floats(tiny), vector_workspace_floats(tiny, choice.set.layout));
    }
}

}  // namespace
}  // namespace pibinn
