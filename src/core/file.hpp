#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace pibinn {

/// The whole of a file, or an io error that says why it could not be read.
std::string read_file(const std::filesystem::path& path);

/// A file that comes into being whole or not at all: it is written under a temporary name in the
/// same folder and renamed by commit(); without commit() nothing is left behind.
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
    /// Flushes to the disk, then renames. Throws when the disk is full or the folder refuses.
    void commit();

private:
    std::filesystem::path path_;
    std::filesystem::path temporary_;
    int descriptor_ = -1;
    int noted_ = -1;  ///< where remove_temporaries() finds the temporary name
};

/// Removes the temporary files of all AtomicFiles that are being written. Safe in a signal handler:
/// this is how a program that is told to stop leaves nothing behind.
void remove_temporaries() noexcept;

void write_file(const std::filesystem::path& path, const std::string& content);

}  // namespace pibinn
