#include "core/file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "core/path.hpp"
#include "core/temporary_file.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

namespace fs = std::filesystem;

/// What a rename cannot replace and is written to directly: a device, a pipe, or what is already
/// open, as /dev/stdout is.
bool is_written_directly(const fs::file_status& status, const fs::path& target) {
    return fs::exists(status) &&
           (!fs::is_regular_file(status) || target.native().starts_with("/proc/"));
}

void wait_for(int descriptor, short event) noexcept {
    pollfd wanted{descriptor, event, 0};
    ::poll(&wanted, 1, -1);
}

}  // namespace

void fail_write(const fs::path& path, int error) {
    fail_io("cannot write '" + path.string() + "': " + std::strerror(error), path_hint(error));
}

std::string read_file(const fs::path& path) {
    std::error_code code;
    if (fs::is_directory(path, code))
        fail_io("'" + path.string() + "' is a folder, not a file", "give the path of a file");
    std::ifstream in(path, std::ios::binary);
    if (!in)
        fail_io("cannot read '" + path.string() + "': " + std::strerror(errno), "check the path");
    std::string content;
    const auto size = fs::file_size(path, code);  // 0 or an error for pipes and devices
    if (!code) content.resize(size);
    in.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<std::size_t>(in.gcount()));
    if (in) content.append(std::istreambuf_iterator<char>(in), {});
    if (in.bad()) fail_io("reading '" + path.string() + "' failed midway", "check the disk");
    return content;
}

int write_all(int descriptor, const void* data, std::size_t bytes) noexcept {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t done = ::write(descriptor, from, bytes);
        if (done < 0 && errno == EAGAIN) wait_for(descriptor, POLLOUT);
        if (done < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (done < 0) return errno;
        from += done;
        bytes -= static_cast<std::size_t>(done);
    }
    return 0;
}

void wait_for_input(int descriptor) noexcept { wait_for(descriptor, POLLIN); }

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
    std::error_code code;
    const fs::file_status status = fs::status(path_, code);
    if (status.type() == fs::file_type::none) fail_write(path_, code.value());
    if (fs::is_directory(status))
        fail_io("cannot write '" + path_.string() + "': it is a folder", "give the path of a file");
    const fs::path target = without_links(path_);
    if (!is_written_directly(status, target)) {
        temporary_ = std::make_unique<TemporaryFile>(target, path_);
        descriptor_ = temporary_->descriptor();
        return;
    }
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    if (descriptor_ < 0) fail_write(path_, errno);
}

AtomicFile::~AtomicFile() {
    if (temporary_ == nullptr && descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFile::write(const void* data, std::size_t bytes) {
    if (const int error = write_all(descriptor_, data, bytes); error != 0) fail_write(path_, error);
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

const fs::path& AtomicFile::let_others_write() {
    if (temporary_ == nullptr)
        fail_io("cannot write '" + path_.string() + "' from several processes: it is no file",
                "give the path of a file");
    temporary_->unlock();
    return temporary_->name();
}

void AtomicFile::commit() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail_write(path_, errno);
    if (temporary_ == nullptr) {
        const int done = ::close(descriptor_);
        descriptor_ = -1;
        if (done != 0 && errno != EINTR) fail_write(path_, errno);
        return;
    }
    if (const int error = temporary_->replace_target(); error != 0) fail_write(path_, error);
    temporary_.reset();
    descriptor_ = -1;
}

void write_file(const fs::path& path, const std::string& content) {
    AtomicFile file(path);
    file.write(content);
    file.commit();
}

}  // namespace pibinn
