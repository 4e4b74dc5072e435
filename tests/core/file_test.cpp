#include "core/file.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/temporary_file.hpp"
#include "core/test_folder.hpp"
#include "pibinn/error.hpp"

namespace pibinn {
namespace {

namespace fs = std::filesystem;

class File : public ::testing::Test {
protected:
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }

    TestFolder folder;
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

TEST_F(File, PassesOnThePermissionsOfWhatItReplaces) {
    write_file(folder / "x", "old");
    fs::permissions(folder / "x", fs::perms::owner_read | fs::perms::owner_write);
    write_file(folder / "x", "new");
    EXPECT_EQ(fs::status(folder / "x").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    const mode_t before = ::umask(0027);
    write_file(folder / "y", "new");
    ::umask(before);
    EXPECT_EQ(fs::status(folder / "y").permissions(),
              fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

TEST_F(File, ThatALinkLeadsToIsReplacedAndTheLinkStays) {
    fs::create_directory(folder / "far");
    write_file(folder / "far" / "x", "old");
    for (const char* name : {"x", "y"}) {  // one that is there, one that is not
        const fs::path link = folder / (std::string("link-") + name);
        fs::create_symlink(fs::path("far") / name, link);
        write_file(link, "new");
        EXPECT_TRUE(fs::is_symlink(link));
        EXPECT_EQ(read_file(folder / "far" / name), "new");
    }
    EXPECT_EQ(files(), 3u);
}

TEST_F(File, TouchesNoLinkThatWasPlantedForItsTemporary) {
    write_file(folder / "victim", "precious");
    const std::string name = "x.tmp-" + std::to_string(::getpid());
    fs::create_symlink("victim", folder / name);
    write_file(folder / "x", "new");
    EXPECT_EQ(read_file(folder / "victim"), "precious");
    EXPECT_TRUE(fs::is_symlink(folder / name));
}

TEST_F(File, ThatIsWriteProtectedStays) {
    const WithoutPrivileges user(folder);
    write_file(folder / "x", "old");
    fs::permissions(folder / "x", fs::perms::owner_read);
    EXPECT_EQ(error_of([&] { write_file(folder / "x", "new"); }).kind(), ErrorKind::io);
    EXPECT_EQ(read_file(folder / "x"), "old");
}

TEST_F(File, OfTheLongestNameCanBeWritten) {
    const fs::path path = folder / std::string(255, 'n');
    write_file(path, "new");
    EXPECT_EQ(read_file(path), "new");
    EXPECT_EQ(files(), 1u);
}

TEST_F(File, RemovesItsTemporariesWhenTheProgramIsToldToStop) {
    AtomicFile one(folder / "x"), two(folder / "y");
    EXPECT_EQ(files(), 2u);
    remove_temporaries();
    EXPECT_EQ(files(), 0u);
}

TEST(WriteAll, WaitsForAReaderOfAPipeThatDoesNotBlock) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
    const std::string sent(1 << 20, 'x');
    std::string got;
    std::thread reader([&] {
        std::vector<char> part(5000);
        while (got.size() < sent.size()) {
            const ssize_t count = ::read(ends[0], part.data(), part.size());
            if (count < 0)
                wait_for_input(ends[0]);
            else
                got.append(part.data(), static_cast<std::size_t>(count));
        }
    });
    EXPECT_EQ(write_all(ends[1], sent.data(), sent.size()), 0);
    reader.join();
    EXPECT_EQ(got, sent);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(File, ReadingWhatIsNotThereNamesThePath) {
    const Error e = error_of([&] { read_file(folder / "nothing"); });
    EXPECT_EQ(e.kind(), ErrorKind::io);
    EXPECT_NE(e.message().find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace pibinn
