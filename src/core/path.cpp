#include "core/path.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_path(const fs::path& path, int error) {
    fail_io("cannot look at '" + path.string() + "': " + std::strerror(error), path_hint(error));
}

fs::file_status status_of(const fs::path& path) {
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (status.type() == fs::file_type::none) fail_path(path, code.value());
    return status;
}

/// Absolute, with every link on the way followed as far as the path exists.
fs::path place_of(const fs::path& path) {
    std::error_code code;
    const fs::path whole = fs::absolute(without_links(path), code);
    const fs::path place = fs::weakly_canonical(whole, code);
    return code ? whole.lexically_normal() : place;
}

}  // namespace

std::string path_hint(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space or choose a path on another disk";
        case EFBIG:
            return "a limit on the size of files stands in the way: see 'ulimit -f'";
        case ENOENT:
            return "create the folder first or choose another path";
        case ENAMETOOLONG:
            return "choose a shorter name";
        case ELOOP:
            return "its links lead back to themselves: choose another path";
        case EACCES:
        case EPERM:
            return "check the permissions of the file and of the folders on the way";
        default:
            return "check that the folder exists and may be written to";
    }
}

bool path_exists(const fs::path& path) { return fs::exists(status_of(path)); }

bool is_folder(const fs::path& path) { return fs::is_directory(status_of(path)); }

fs::path without_links(const fs::path& path) {
    constexpr int most = 40;  // as Linux allows
    fs::path at = path;
    for (int i = 0; i < most; ++i) {
        std::error_code code;  // of what is not a link
        const fs::path to = fs::read_symlink(at, code);
        if (code) return at;
        // The links of /proc are open files; what they say is no path.
        const fs::path folder = fs::canonical(fs::absolute(at, code).parent_path(), code);
        if (folder.native().starts_with("/proc/")) return folder / at.filename();
        at = at.parent_path() / to;  // an absolute path replaces what is before it
    }
    fail_path(path, ELOOP);
}

bool same_file(const fs::path& one, const fs::path& other) {
    std::error_code code;
    if (fs::equivalent(one, other, code)) return true;
    return place_of(one) == place_of(other);
}

bool lies_in(const fs::path& path, const fs::path& folder) {
    const fs::path inner = place_of(path), outer = place_of(folder);
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first ==
           outer.end();
}

}  // namespace pibinn
