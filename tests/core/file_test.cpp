#include "core/file.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

namespace fs = std::filesystem;

class File : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "pibinn-file-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder = name;
    }
    void TearDown() override { fs::remove_all(folder); }

    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }

    template <class Action>
    static Error error_of(Action&& action) {
        try {
            action();
        } catch (const Error& e) {
            return e;
        }
        ADD_FAILURE() << "no error";
        return {ErrorKind::internal, ""};
    }

    fs::path folder;
};

TEST_F(File, IsReadAsItWasWritten) {
    const std::string content("a\0b\nc\xff", 6);
    write_file(folder / "x", content);
    EXPECT_EQ(read_file(folder / "x"), content);
    write_file(folder / "x", "");
    EXPECT_EQ(read_file(folder / "x"), "");
    EXPECT_EQ(files(), 1u);
}

TEST_F(File, WithoutCommitNothingIsLeftAndTheOldContentStays) {
    write_file(folder / "x", "old");
    {
        AtomicFile file(folder / "x");
        file.write("new");
        EXPECT_EQ(read_file(folder / "x"), "old");
    }
    EXPECT_EQ(read_file(folder / "x"), "old");
    { AtomicFile(folder / "y").write("new"); }
    EXPECT_EQ(files(), 1u);
}

TEST_F(File, CommitReplacesTheOldContent) {
    write_file(folder / "x", "old");
    AtomicFile file(folder / "x");
    file.write("new ");
    file.write("content");
    file.commit();
    EXPECT_EQ(read_file(folder / "x"), "new content");
    EXPECT_EQ(files(), 1u);
}

TEST_F(File, AFullDiskIsAnIoErrorThatSaysSo) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "skipped: this system has no /dev/full";
    const Error e = error_of([] { write_file("/dev/full", "text"); });
    EXPECT_EQ(e.kind(), ErrorKind::io);
    EXPECT_NE(e.message().find("/dev/full"), std::string::npos) << e.message();
    EXPECT_NE(e.hint().find("free some space"), std::string::npos) << e.hint();
}

TEST_F(File, ADeviceIsWrittenToAndNotReplaced) {
    write_file("/dev/null", "text");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(File, AMissingFolderIsAnIoErrorThatNamesThePath) {
    const fs::path path = folder / "missing" / "x";
    const Error e = error_of([&] { AtomicFile{path}; });
    EXPECT_EQ(e.kind(), ErrorKind::io);
    EXPECT_NE(e.message().find(path.string()), std::string::npos) << e.message();
    EXPECT_NE(e.hint().find("create the folder"), std::string::npos) << e.hint();
}

TEST_F(File, AFolderIsNotAFile) {
    EXPECT_EQ(error_of([&] { AtomicFile{folder}; }).kind(), ErrorKind::io);
    EXPECT_EQ(error_of([&] { read_file(folder); }).kind(), ErrorKind::io);
}

TEST_F(File, ReadingWhatIsNotThereNamesThePath) {
    const Error e = error_of([&] { read_file(folder / "nothing"); });
    EXPECT_EQ(e.kind(), ErrorKind::io);
    EXPECT_NE(e.message().find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace pibinn
