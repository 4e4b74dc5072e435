#include "core/temporary_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.hpp"

namespace pibinn {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";
constexpr std::size_t kDigits = 16;
constexpr std::size_t kLongestName = 255;
constexpr mode_t kPermissions = 0777;

/// Names of files being written, in memory that a signal handler can read at any time. When more
/// files than this are open, or a name is longer, the file is written but not noted.
struct NotedName {
    std::atomic<bool> taken = false;
    std::atomic<bool> complete = false;
    char name[1024] = {};
};
std::array<NotedName, 16> noted_names;

int note(const fs::path& path) noexcept {
    const std::string& name = path.native();
    for (std::size_t i = 0; i < noted_names.size(); ++i) {
        NotedName& slot = noted_names[i];
        if (name.size() >= sizeof slot.name || slot.taken.exchange(true)) continue;
        std::memcpy(slot.name, name.c_str(), name.size() + 1);
        slot.complete = true;
        return static_cast<int>(i);
    }
    return -1;
}

void forget(int noted) noexcept {
    if (noted < 0) return;
    noted_names[static_cast<std::size_t>(noted)].complete = false;
    noted_names[static_cast<std::size_t>(noted)].taken = false;
}

/// What the names of a file's temporaries start with: a long name leaves room for the digits.
std::string prefix_of(const std::string& file) {
    return file.substr(0, kLongestName - kMark.size() - kDigits) + std::string(kMark);
}

fs::path name_beside(const fs::path& target) {
    std::random_device source;
    const std::uint64_t number = std::uint64_t{source()} << 32U | source();
    return target.parent_path() /
           fmt::format("{}{:0{}x}", prefix_of(target.filename().string()), number, kDigits);
}

bool is_temporary_of(std::string_view name, const std::string& file) {
    const std::string prefix = prefix_of(file);
    return name.size() == prefix.size() + kDigits && name.starts_with(prefix) &&
           name.substr(prefix.size()).find_first_not_of("0123456789abcdef") ==
               std::string_view::npos;
}

int lock(int descriptor, int how) noexcept {
    int result = -1;
    while ((result = ::flock(descriptor, how)) != 0 && errno == EINTR) {
    }
    return result;
}

/// Removes a temporary file whose owner is gone: its lock is free.
void remove_abandoned(const fs::path& path) noexcept {
    // Never waits, as opening a pipe by that name would.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == ::geteuid() && lock(descriptor, LOCK_EX | LOCK_NB) == 0)
        ::unlink(path.c_str());
    ::close(descriptor);
}

}  // namespace

TemporaryFile::TemporaryFile(const fs::path& target, const fs::path& shown) : target_(target) {
    struct stat replaced = {};
    const bool replaces = ::stat(target.c_str(), &replaced) == 0;
    // A rename needs leave for the folder alone; a file that is write-protected stays.
    if (replaces && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
        fail_write(shown, errno);
    while (!create(target, replaces))
        if (error_ != EEXIST) fail_write(shown, error_);
    if (!replaces) return;
    // Only root may give a file away; whoever else replaces one then owns it.
    if (replaced.st_uid != ::geteuid() || replaced.st_gid != ::getegid())
        static_cast<void>(::fchown(descriptor_, replaced.st_uid, replaced.st_gid) == 0);
    ::fchmod(descriptor_, replaced.st_mode & kPermissions);
}

bool TemporaryFile::create(const fs::path& target, bool replaces) {
    name_ = name_beside(target);
    noted_ = note(name_);
    // Until it has the permissions of the file that it replaces, it is the owner's alone.
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         replaces ? 0600 : 0666);
    error_ = errno;
    struct stat own = {};
    if (descriptor_ >= 0) {
        lock(descriptor_, LOCK_EX);  // a file system without locks has no safe leftovers either
        if (::fstat(descriptor_, &own) == 0 && own.st_nlink > 0) return true;
        // Another process took it for a leftover before it was locked: again.
        ::close(descriptor_);
        descriptor_ = -1;
        error_ = EEXIST;
    }
    forget(noted_);
    return false;
}

TemporaryFile::~TemporaryFile() {
    if (descriptor_ < 0) return;
    if (!name_.empty()) ::unlink(name_.c_str());
    ::close(descriptor_);
    forget(noted_);
}

void TemporaryFile::unlock() noexcept { lock(descriptor_, LOCK_UN); }

int TemporaryFile::replace_target() noexcept {
    if (::rename(name_.c_str(), target_.c_str()) != 0) return errno;
    forget(noted_);
    noted_ = -1;
    name_.clear();
    return 0;
}

void remove_temporaries() noexcept {
    const int error = errno;
    for (const NotedName& slot : noted_names)
        if (slot.complete) ::unlink(slot.name);
    errno = error;
}

void remove_leftovers(const fs::path& folder, std::span<const std::string> files) {
    std::error_code code;
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
        const std::string name = at->path().filename().string();
        if (std::any_of(files.begin(), files.end(),
                        [&](const std::string& file) { return is_temporary_of(name, file); }))
            remove_abandoned(at->path());
    }
}

}  // namespace pibinn
