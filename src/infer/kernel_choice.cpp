#include "infer/kernel_choice.hpp"

#include <algorithm>
#include <limits>

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
        if (vector_kernel(target) != nullptr) all.push_back({"vector/" + set, target, Way::vector});
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

std::size_t rows_for_tiles(const KernelChoice& choice, std::span<const PackedPart> parts) {
    if (choice.way == Way::tile) return 1;
    if (choice.way == Way::vector) return std::numeric_limits<std::size_t>::max();
    (void)parts;
    return 6;
}

}  // namespace pibinn
