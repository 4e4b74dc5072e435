#include "infer/kernel_choice.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

struct Named {
    std::string name;
    std::int64_t target;
    KernelStrategy strategy;
};

std::vector<Named> all_kernels() {
    std::vector<Named> all;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        const std::string set = hwy::TargetName(target);
        all.push_back({set, target, KernelStrategy::automatic});
        if (vector_kernel(target) != nullptr)
            all.push_back({"vector/" + set, target, KernelStrategy::vector});
        all.push_back({"tile/" + set, target, KernelStrategy::tile});
    }
    return all;
}

}  // namespace

std::vector<std::string> kernel_choices() {
    std::vector<std::string> names;
    for (const Named& kernel : all_kernels()) names.push_back(kernel.name);
    return names;
}

KernelChoice choose_kernel(std::string_view name) {
    const std::vector<Named> all = all_kernels();
    for (const Named& kernel : all)
        if (name == kernel.name || name == "auto")
            return {kernel.name, kernel.strategy, kernel_set(kernel.target)};
    std::vector<std::string_view> known{"auto"};
    for (const Named& kernel : all) known.push_back(kernel.name);
    fail_usage(fmt::format("this machine has no kernel '{}'", name), hint_for_unknown(name, known));
}

bool KernelChoice::tiny(const PackedBlock& block) const {
    // Measured from 2x4 to 1024x2048, 5 to 60 % alive, in batches: blocks of 2x4 and 4x8 leave most
    // of a register empty and take 1.4 to 3 times as long as in tiles; blocks of 8x16 take about as
    // long; from 16x32 on tables in registers won everywhere.
    constexpr std::size_t few_links = 128;
    return strategy == KernelStrategy::automatic && block.full() && !block.by_sites &&
           block.m * block.n < few_links;
}

RecoverKernel KernelChoice::vector_of(const PackedBlock& block) const {
    if (strategy == KernelStrategy::tile || !block.full()) return nullptr;
    return set.vector;
}

KernelChoice::Step KernelChoice::step(const PackedBlock& block, std::size_t left) const {
    // A tile takes as long for one row as for sixteen, and about as long as five tiles of one.
    constexpr std::size_t enough = 5;
    const RecoverKernel vector = vector_of(block);
    const bool tiled =
        strategy == KernelStrategy::tile || (left >= enough && (vector == nullptr || tiny(block)));
    // 48 rows in one take as long as in three.
    if (tiled && !block.full() && strategy == KernelStrategy::automatic && left >= 3 * kTile)
        return {set.mask_tile, std::min(left, kMaskTile)};
    if (tiled) return {set.tile, std::min(left, kTile)};
    if (vector != nullptr) return {vector, left};
    return {set.single, 1};
}

std::size_t KernelChoice::rows_at_a_time(const PackedBlock& block) const {
    if (!block.full() && strategy == KernelStrategy::automatic) return kMaskTile;
    if (vector_of(block) == nullptr || tiny(block)) return kTile;
    return block.by_sites ? rows_together(block) : kInterleave;
}

std::size_t KernelChoice::workspace_floats(const PackedBlock& block) const {
    const std::size_t tile = tile_workspace_floats(block, set.layout);
    if (vector_of(block) == nullptr) return tile;
    const std::size_t vector = vector_workspace_floats(block, set.layout);
    return tiny(block) ? std::max(tile, vector) : vector;
}

}  // namespace pibinn
