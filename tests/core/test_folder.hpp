#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "pibinn/error.hpp"

namespace pibinn {

/// A folder of one test, gone with it.
class TestFolder {
public:
    TestFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "pibinn-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no folder " << name;
        path_ = name;
    }
    ~TestFolder() { std::filesystem::remove_all(path_); }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    operator const std::filesystem::path&() const { return path_; }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Root may do anything: while this lives, root is somebody who may not, and owns `folder`.
class WithoutPrivileges {
public:
    explicit WithoutPrivileges(const std::filesystem::path& folder) : root_(::geteuid() == 0) {
        constexpr uid_t nobody = 65534;
        if (root_ && (::chown(folder.c_str(), nobody, nobody) != 0 || ::seteuid(nobody) != 0))
            ADD_FAILURE() << "cannot become another user";
    }
    ~WithoutPrivileges() {
        if (root_ && ::seteuid(0) != 0) std::abort();
    }
    WithoutPrivileges(const WithoutPrivileges&) = delete;
    WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;

private:
    bool root_;
};

/// The Error that `work` throws.
template <class Work>
Error error_of(Work&& work) {
    try {
        work();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return {ErrorKind::internal, ""};
}

}  // namespace pibinn
