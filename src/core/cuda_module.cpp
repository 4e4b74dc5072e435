#include "core/cuda_module.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/version.hpp"

namespace pibinn {

namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "libpibinn_cuda.so";
constexpr const char* kOtherDevice = "use the processor: device cpu, kernel auto";

/// Beside the program or the library that asks or in the folder above, where a build has it, or in
/// `lib` beside `bin`, where an installation has it.
std::vector<fs::path> places() {
    std::vector<fs::path> found;
    const auto add = [&](const fs::path& file) {
        if (file.empty()) return;
        const fs::path folder = file.parent_path();
        for (const fs::path& place : {folder, folder.parent_path(), folder.parent_path() / "lib"})
            found.push_back(place / kModule);
    };
    std::error_code code;
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&cuda_device_name), &info) != 0 && info.dli_fname)
        add(fs::canonical(info.dli_fname, code));
    add(fs::read_symlink("/proc/self/exe", code));
    return found;
}

struct Module {
    void* handle = nullptr;
    std::string problem;  ///< why there is none
};

Module load() {
    Module module;
    std::error_code code;
    for (const fs::path& place : places()) {
        if (!fs::exists(place, code)) continue;
        module.handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (module.handle == nullptr) module.problem = dlerror();
        break;
    }
    if (module.handle == nullptr) {
        if (module.problem.empty()) module.problem = "this build has no CUDA device";
        return module;
    }
    using Text = const char*();
    const auto built_for = reinterpret_cast<Text*>(dlsym(module.handle, "pibinn_cuda_version"));
    if (built_for == nullptr || built_for() != version()) {
        module.problem = fmt::format("{} is of another version than pibinn {}", kModule, version());
        module.handle = nullptr;
        return module;
    }
    // Empty where a device is ready for use.
    const auto problem = reinterpret_cast<Text*>(dlsym(module.handle, "pibinn_cuda_problem"));
    if (problem != nullptr) module.problem = problem();
    return module;
}

const Module& the_module() {
    static const Module module = load();
    return module;
}

}  // namespace

void* cuda_entry(const char* name) {
    const Module& module = the_module();
    if (module.handle == nullptr || !module.problem.empty())
        fail_usage(module.problem, kOtherDevice);
    void* entry = dlsym(module.handle, name);
    ensure(entry != nullptr, "an entry point of the CUDA module");
    return entry;
}

std::string cuda_device_name() {
    const Module& module = the_module();
    if (module.handle == nullptr || !module.problem.empty()) return {};
    using Text = const char*();
    return reinterpret_cast<Text*>(cuda_entry("pibinn_cuda_device"))();
}

}  // namespace pibinn
