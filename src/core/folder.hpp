#pragma once

#include <filesystem>
#include <optional>

namespace pibinn {

/// Makes a folder for results and its parents.
void make_folder(const std::filesystem::path& folder);

/// Refuses a path that cannot be written to, before work is spent on what should go there. What a
/// killed process left of an earlier attempt goes.
void require_writable(const std::filesystem::path& path);

/// A folder that this process has for itself. The system lets go of it when the process ends, in
/// whatever way, and nothing in the folder tells of it.
class FolderLock {
public:
    /// Nothing where another holds it. A file system that cannot lock folders keeps nobody out.
    static std::optional<FolderLock> take(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(FolderLock&& other) noexcept;
    FolderLock& operator=(FolderLock&&) = delete;

    /// Whether the folder was removed since.
    bool lost() const;

private:
    explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

    int descriptor_;
};

}  // namespace pibinn
