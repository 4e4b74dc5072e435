#include "core/cuda_module.hpp"

#include <string>

#include "core/module.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr const char* kOtherDevice = "use the processor: device cpu, kernel auto";

Module load_cuda() {
    Module module = load_module("libpibinn_cuda.so", "pibinn_cuda_version");
    if (module.handle == nullptr) {
        if (module.problem.empty()) module.problem = "this build has no CUDA device";
        return module;
    }
    // Empty where a device is ready for use.
    const auto problem = reinterpret_cast<const char* (*)()>(module.entry("pibinn_cuda_problem"));
    if (problem != nullptr) module.problem = problem();
    return module;
}

const Module& cuda_module() {
    static const Module module = load_cuda();
    return module;
}

}  // namespace

void* cuda_entry(const char* name) {
    const Module& module = cuda_module();
    if (module.handle == nullptr || !module.problem.empty())
        fail_usage(module.problem, kOtherDevice);
    void* entry = module.entry(name);
    ensure(entry != nullptr, "an entry point of the CUDA module");
    return entry;
}

std::string cuda_device_name() {
    const Module& module = cuda_module();
    if (module.handle == nullptr || !module.problem.empty()) return {};
    using Text = const char*();
    return reinterpret_cast<Text*>(cuda_entry("pibinn_cuda_device"))();
}

}  // namespace pibinn
