#include "core/folder.hpp"

#include <fmt/format.h>

#include "core/file.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

void make_folder(const std::filesystem::path& folder) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code || !std::filesystem::is_directory(folder))
        fail_io(fmt::format("cannot make the folder '{}': {}", folder.string(),
                            code ? code.message() : "it is a file"),
                "choose another folder");
}

void require_writable(const std::filesystem::path& path) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    // Opening a pipe has an effect on its reader. Devices and pipes report errors when they are
    // written to.
    if (std::filesystem::exists(status) && std::filesystem::is_other(status)) return;
    AtomicFile probe(path);
}

}  // namespace pibinn
