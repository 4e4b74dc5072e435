#include "core/module.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "pibinn/version.hpp"

namespace pibinn {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> module_places(const char* name) {
    std::vector<fs::path> found;
    const auto add = [&](const fs::path& file) {
        if (file.empty()) return;
        const fs::path folder = file.parent_path();
        const fs::path above = folder.parent_path();
        for (const fs::path& place : {folder, above, above / PIBINN_LIBDIR, above / "lib"})
            found.push_back(place / name);
    };
    std::error_code code;
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&load_module), &info) != 0 && info.dli_fname)
        add(fs::canonical(info.dli_fname, code));
    add(fs::read_symlink("/proc/self/exe", code));
    return found;
}

}  // namespace

void* Module::entry(const char* name) const {
    return handle == nullptr ? nullptr : dlsym(handle, name);
}

Module load_module(const char* file, const char* version_entry, bool global) {
    Module module;
    std::error_code code;
    for (const fs::path& place : module_places(file)) {
        if (!fs::exists(place, code)) continue;
        module.handle = dlopen(place.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
        if (module.handle == nullptr) module.problem = dlerror();
        break;
    }
    if (module.handle == nullptr) return module;
    const auto built_for = reinterpret_cast<const char* (*)()>(module.entry(version_entry));
    if (built_for == nullptr || built_for() != version()) {
        module.problem = fmt::format("{} is of another version than pibinn {}", file, version());
        module.handle = nullptr;
    }
    return module;
}

}  // namespace pibinn
