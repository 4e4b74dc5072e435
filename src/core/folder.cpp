#include "core/folder.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.hpp"
#include "core/path.hpp"
#include "core/temporary_file.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
    std::error_code code;
    fs::create_directories(folder, code);
    if (code)
        fail_io(fmt::format("cannot make the folder '{}': {}", folder.string(), code.message()),
                "choose another folder");
    if (!is_folder(folder))
        fail_io(fmt::format("cannot make the folder '{}': it is a file", folder.string()),
                "choose another folder");
}

void require_writable(const fs::path& path) {
    std::error_code code;
    const auto status = fs::status(path, code);
    // Opening a pipe has an effect on its reader. Devices and pipes report errors when they are
    // written to.
    if (fs::exists(status) && fs::is_other(status)) return;
    const AtomicFile probe(path);
    const fs::path target = without_links(path);
    const std::array file{target.filename().string()};
    remove_leftovers(target.parent_path().empty() ? "." : target.parent_path(), file);
}

std::optional<FolderLock> FolderLock::take(const fs::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        const int error = errno;
        fail_io(
            fmt::format("cannot open the folder '{}': {}", folder.string(), std::strerror(error)),
            path_hint(error));
    }
    FolderLock lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    return lock;
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

bool FolderLock::lost() const {
    struct stat status = {};
    return ::fstat(descriptor_, &status) != 0 || status.st_nlink == 0;
}

}  // namespace pibinn
