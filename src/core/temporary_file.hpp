#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace pibinn {

/// A new file beside `target`, under a name of its own that nobody can foresee, to be renamed to
/// it. It has the permissions of the file that it will replace. It is locked for as long as it is
/// open, which is how others know that its owner lives.
class TemporaryFile {
public:
    /// Throws what the system refuses as an io error that names `shown`.
    TemporaryFile(const std::filesystem::path& target, const std::filesystem::path& shown);
    /// Removes the file unless it was renamed.
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    int descriptor() const { return descriptor_; }
    const std::filesystem::path& name() const { return name_; }
    /// Lets go of the lock, which on network file systems keeps other processes from writing.
    void unlock() noexcept;
    /// Puts it in place of the target; 0, or the error number of the system.
    int replace_target() noexcept;

private:
    bool create(const std::filesystem::path& target, bool replaces);

    std::filesystem::path target_;
    std::filesystem::path name_;
    int descriptor_ = -1;
    int noted_ = -1;  ///< where remove_temporaries() finds the name
    int error_ = 0;
};

/// Removes the temporary files that this process has open. Safe in a signal handler: this is how a
/// program that is told to stop leaves nothing behind.
void remove_temporaries() noexcept;

/// Removes the temporary files of targets in this folder, named by `files`, that a killed process
/// left behind. Those of a living process, in this program or another, stay.
void remove_leftovers(const std::filesystem::path& folder, std::span<const std::string> files);

}  // namespace pibinn
