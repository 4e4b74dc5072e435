#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pibinn {

class TemporaryFile;

/// The whole of a file, or an io error that says why it could not be read.
std::string read_file(const std::filesystem::path& path);

/// Writes all bytes to a descriptor, which may be that of a pipe whose reader is slow and that does
/// not block. 0, or the error number of the system.
int write_all(int descriptor, const void* data, std::size_t bytes) noexcept;

/// Waits until a descriptor that does not block can be read from.
void wait_for_input(int descriptor) noexcept;

/// The io error of a path that could not be written, with the system's reason.
[[noreturn]] void fail_write(const std::filesystem::path& path, int error);

/// A file that comes into being whole or not at all: it is written under a temporary name in the
/// same folder and renamed by commit(); without commit() nothing is left behind. A file that is
/// replaced passes on its permissions, and a link stays: the file that it leads to is replaced.
class AtomicFile {
public:
    explicit AtomicFile(std::filesystem::path path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* data, std::size_t bytes);
    void write(const std::string& text) { write(text.data(), text.size()); }
    /// Puts `text` over the first bytes, which a pipe refuses.
    void rewrite_start(const std::string& text);
    /// Where the file stands until commit(), for other processes that write parts of it. Not of
    /// devices and pipes. It is no longer locked then: another start of the same work may take it
    /// for a leftover.
    const std::filesystem::path& let_others_write();
    /// Flushes to the disk, then renames. Throws when the disk is full or the folder refuses.
    void commit();

private:
    std::filesystem::path path_;
    std::unique_ptr<TemporaryFile> temporary_;  ///< none for devices and pipes
    int descriptor_ = -1;
};

void write_file(const std::filesystem::path& path, const std::string& content);

}  // namespace pibinn
