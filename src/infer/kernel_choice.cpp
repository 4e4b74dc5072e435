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
    Way way;
};

/// The best instruction set first, each before its ways.
std::vector<Named> all_kernels() {
    std::vector<Named> all;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        const std::string set = hwy::TargetName(target);
        all.push_back({set, target, Way::automatic});
        const VectorKernels vector = vector_kernels(target);
        if (vector.floats != nullptr) all.push_back({"vector/" + set, target, Way::vector});
        if (vector.shorts != nullptr) all.push_back({"vector16/" + set, target, Way::vector16});
        all.push_back({"tile/" + set, target, Way::tile});
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
            return {kernel.name, kernel.way, kernel_set(kernel.target)};
    std::vector<std::string_view> known{"auto"};
    for (const Named& kernel : all) known.push_back(kernel.name);
    fail_usage(fmt::format("this machine has no kernel '{}'", name), hint_for_unknown(name, known));
}

bool KernelChoice::tiny(const PackedPart& part) const {
    // Measured from 2x4 to 1024x2048, 5 to 60 % alive, in batches: blocks of 2x4 and 4x8 leave most
    // of a register empty and take 1.4 to 3 times as long as in tiles, 8x16 about as long; from
    // 16x32 on tables in registers won everywhere.
    constexpr std::size_t few_links = 128;
    return way == Way::automatic && part.full() && part.m * part.n < few_links;
}

RecoverKernel KernelChoice::vector_of(const PackedPart& part) const {
    if (way == Way::tile || !part.full()) return nullptr;
    return way == Way::vector16 ? set.vector.shorts : set.vector.floats;
}

KernelChoice::Step KernelChoice::step(const PackedPart& part, std::size_t left) const {
    // A tile takes as long for one row as for sixteen, and about as long as five tiles of one.
    constexpr std::size_t enough = 5;
    const RecoverKernel vector = vector_of(part);
    const bool tiled = way == Way::tile || (left >= enough && (vector == nullptr || tiny(part)));
    if (tiled) return {set.tile, std::min(left, kTile)};
    if (vector != nullptr) return {vector, left};
    return {set.single, 1};
}

std::size_t KernelChoice::turn(const PackedPart& part) const {
    return vector_of(part) == nullptr || tiny(part) ? kTile : kTurns;
}

std::size_t KernelChoice::workspace_floats(const PackedPart& part) const {
    const std::size_t tile = tile_workspace_floats(part, set.layout);
    if (vector_of(part) == nullptr) return tile;
    const std::size_t vector = vector_workspace_floats(part, set.layout);
    return tiny(part) ? std::max(tile, vector) : vector;
}

}  // namespace pibinn
