#include "cli/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "pibinn/error.hpp"

namespace pibinn::cli {

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        names.emplace_back(hwy::TargetName(target));
    return names;
}

std::string use_kernel(std::string_view name) {
    if (name == "auto") return kernel_names().front();
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        if (name == hwy::TargetName(target)) {
            hwy::GetChosenTarget().Update(target);
            return std::string(name);
        }
    fail_usage(fmt::format("a floating-point network has no kernel '{}'", name),
               fmt::format("choose an instruction set: {}", fmt::join(kernel_names(), ", ")));
}

}  // namespace pibinn::cli
