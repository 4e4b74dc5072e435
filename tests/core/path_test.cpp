#include "core/path.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/test_folder.hpp"
#include "pibinn/error.hpp"

namespace pibinn {
namespace {

namespace fs = std::filesystem;

class Path : public ::testing::Test {
protected:
    void SetUp() override {
        std::ofstream(folder / "x") << "x";
        fs::create_symlink("x", folder / "link");
        fs::create_symlink("missing", folder / "dangling");
        fs::create_symlink("loop", folder / "loop");
        fs::create_directory(folder / "inner");
        fs::create_directory_symlink("inner", folder / "door");
    }
    TestFolder folder;
};

TEST_F(Path, ExistsOrNot) {
    EXPECT_TRUE(path_exists(folder / "x"));
    EXPECT_TRUE(path_exists(folder / "link"));
    EXPECT_FALSE(path_exists(folder / "dangling"));
    EXPECT_FALSE(path_exists(folder / "x" / "beneath a file"));
    EXPECT_TRUE(is_folder(folder / "door"));
    EXPECT_FALSE(is_folder(folder / "x"));
    EXPECT_FALSE(is_folder(folder / "missing"));
}

TEST_F(Path, WhatTheSystemDoesNotTellIsAnIoErrorWithItsReason) {
    const auto refused = [](const fs::path& path, const char* why) {
        for (const auto look : {path_exists, is_folder}) try {
                look(path);
                ADD_FAILURE() << path;
            } catch (const Error& e) {
                EXPECT_EQ(e.kind(), ErrorKind::io);
                EXPECT_NE(e.message().find(why), std::string::npos) << e.message();
            }
    };
    refused(folder / std::string(300, 'n'), "name too long");
    refused(folder / "loop", "symbolic links");
    refused(folder / "loop" / "x", "symbolic links");
}

TEST_F(Path, IsFollowedToTheFileItStandsFor) {
    EXPECT_EQ(without_links(folder / "x"), folder / "x");
    EXPECT_EQ(without_links(folder / "link"), folder / "x");
    EXPECT_EQ(without_links(folder / "dangling"), folder / "missing");
    EXPECT_THROW(without_links(folder / "loop"), Error);
    // What these say is no path.
    EXPECT_TRUE(without_links("/dev/stdin").native().starts_with("/proc/"));
}

TEST_F(Path, IsTheSameFileByAnyName) {
    EXPECT_TRUE(same_file(folder / "x", folder / "link"));
    EXPECT_TRUE(same_file(folder / "inner" / ".." / "x", folder / "x"));
    EXPECT_TRUE(same_file(folder / "dangling", folder / "missing"));
    EXPECT_TRUE(same_file(folder / "inner" / "new", folder / "door" / "new"));
    EXPECT_FALSE(same_file(folder / "x", folder / "y"));
    fs::create_hard_link(folder / "x", folder / "hard");
    EXPECT_TRUE(same_file(folder / "x", folder / "hard"));
}

TEST_F(Path, LiesInAFolderByAnyName) {
    EXPECT_TRUE(lies_in(folder / "door" / "a" / "b", folder / "inner"));
    EXPECT_TRUE(lies_in(folder, folder));
    EXPECT_FALSE(lies_in(folder / "inner-too", folder / "inner"));
    EXPECT_FALSE(lies_in(folder, folder / "inner"));
}

}  // namespace
}  // namespace pibinn
