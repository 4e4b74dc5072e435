#include "core/folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.hpp"
#include "core/test_folder.hpp"
#include "pibinn/error.hpp"

namespace pibinn {
namespace {

namespace fs = std::filesystem;

class Folder : public ::testing::Test {
protected:
    TestFolder folder;
};

TEST_F(Folder, IsHeldByOneAtATimeAndTellsNothingOfIt) {
    {
        const auto lock = FolderLock::take(folder);
        ASSERT_TRUE(lock);
        EXPECT_FALSE(FolderLock::take(folder));
        EXPECT_TRUE(fs::is_empty(folder));
    }
    EXPECT_TRUE(FolderLock::take(folder));
}

TEST_F(Folder, IsFreeAgainWhenItsHolderIsKilled) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto lock = FolderLock::take(folder);
        static_cast<void>(::write(ready[1], lock ? "y" : "n", 1) == 1);
        ::pause();
        ::_exit(0);
    }
    char answer = 0;
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    EXPECT_FALSE(FolderLock::take(folder));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(FolderLock::take(folder));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(Folder, ThatIsWritableLosesWhatAKilledProcessLeft) {
    const auto put = [&](const std::string& name) { std::ofstream(folder / name) << "half"; };
    put("x.npy.tmp-0123456789abcdef");
    put("x.npy.tmp-backup");
    put("y.npy.tmp-0123456789abcdef");
    const AtomicFile held(folder / "x.npy");  // as another process would
    require_writable(folder / "x.npy");
    EXPECT_FALSE(fs::exists(folder / "x.npy.tmp-0123456789abcdef"));
    EXPECT_TRUE(fs::exists(folder / "x.npy.tmp-backup"));
    EXPECT_TRUE(fs::exists(folder / "y.npy.tmp-0123456789abcdef"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 3);
}

TEST_F(Folder, CannotBeMadeWhereAFileIs) {
    std::ofstream(folder / "x") << "x";
    for (const fs::path& path : {folder / "x", folder / "x" / "y"}) try {
            make_folder(path);
            ADD_FAILURE() << path;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::io);
        }
}

}  // namespace
}  // namespace pibinn
