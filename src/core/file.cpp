#include "core/file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

[[noreturn]] void fail_write(const std::filesystem::path& path, int error) {
    const std::string why = "cannot write '" + path.string() + "': " + std::strerror(error);
    if (error == ENOSPC || error == EDQUOT)
        fail_io(why, "free some space or choose a path on another disk");
    if (error == ENOENT) fail_io(why, "create the folder first or choose another path");
    fail_io(why, "check that the folder exists and may be written to");
}

/// Names of files being written, in memory that a signal handler can read at any time. When more
/// files than this are open, or a name is longer, the file is written but not noted.
struct NotedName {
    std::atomic<bool> taken = false;
    std::atomic<bool> complete = false;
    char name[1024] = {};
};
std::array<NotedName, 16> noted_names;

int note(const std::filesystem::path& path) noexcept {
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

bool is_special(const std::filesystem::path& path) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
    std::error_code code;
    if (std::filesystem::is_directory(path, code))
        fail_io("'" + path.string() + "' is a folder, not a file", "give the path of a file");
    std::ifstream in(path, std::ios::binary);
    if (!in)
        fail_io("cannot read '" + path.string() + "': " + std::strerror(errno), "check the path");
    std::string content;
    const auto size =
        std::filesystem::file_size(path, code);  // 0 or an error for pipes and devices
    if (!code) content.resize(size);
    in.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<std::size_t>(in.gcount()));
    if (in) content.append(std::istreambuf_iterator<char>(in), {});
    if (in.bad()) fail_io("reading '" + path.string() + "' failed midway", "check the disk");
    return content;
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code code;
    if (std::filesystem::is_directory(path_, code))
        fail_io("cannot write '" + path_.string() + "': it is a folder", "give the path of a file");
    // A rename cannot replace a device or a pipe: it is written to directly.
    temporary_ = path_;
    if (!is_special(path_)) {
        temporary_ += ".tmp-" + std::to_string(::getpid());
        noted_ = note(temporary_);
    }
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor_ < 0) {
        const int error = errno;
        forget(noted_);
        fail_write(path_, error);
    }
}

AtomicFile::~AtomicFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (temporary_ != path_) ::unlink(temporary_.c_str());
    forget(noted_);
}

void AtomicFile::write(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t done = ::write(descriptor_, from, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) fail_write(path_, errno);
        from += done;
        bytes -= static_cast<std::size_t>(done);
    }
}

void AtomicFile::rewrite_start(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const ssize_t done =
            ::pwrite(descriptor_, text.data() + at, text.size() - at, static_cast<off_t>(at));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) fail_write(path_, errno);
        at += static_cast<std::size_t>(done);
    }
}

void AtomicFile::commit() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail_write(path_, errno);
    if (temporary_ != path_ && ::rename(temporary_.c_str(), path_.c_str()) != 0)
        fail_write(path_, errno);
    ::close(descriptor_);
    descriptor_ = -1;
    forget(noted_);
}

void remove_temporaries() noexcept {
    for (const NotedName& slot : noted_names)
        if (slot.complete) ::unlink(slot.name);
}

void write_file(const std::filesystem::path& path, const std::string& content) {
    AtomicFile file(path);
    file.write(content);
    file.commit();
}

}  // namespace pibinn
