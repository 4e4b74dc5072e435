#include "cli/kernels.hpp"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "core/names.hpp"
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
    const std::vector<std::string> names = kernel_names();
    std::vector<std::string_view> known{"auto"};
    known.insert(known.end(), names.begin(), names.end());
    fail_usage(fmt::format("this machine has no kernel '{}'", name), hint_for_unknown(name, known));
}

}  // namespace pibinn::cli
