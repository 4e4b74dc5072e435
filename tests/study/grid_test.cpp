#include "study/grid.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/file.hpp"
#include "core/test_folder.hpp"
#include "pibinn/error.hpp"

namespace pibinn::study {
namespace {

class GridFile : public ::testing::Test {
protected:
    Grid read(const std::string& text) {
        write_file(folder_.path() / "grid.toml", text);
        return read_grid((folder_.path() / "grid.toml").string());
    }
    std::string refusal(const std::string& text) {
        try {
            read(text);
        } catch (const Error& error) {
            return error.message() + "; " + error.hint();
        }
        return "";
    }

    TestFolder folder_;
};

TEST_F(GridFile, ListsGoRoundLastOneFirst) {
    const Grid grid = read(
        "[model]\nlayers = 3\n[grid]\nproblem.snr_db = [20, [10, 40]]\n"
        "model.weights = [\"one-bit\", \"float\", \"ternary\"]\n");
    ASSERT_EQ(grid.size(), 6u);
    EXPECT_EQ(grid.axes[0].key, "problem.snr_db");
    EXPECT_EQ(grid.values(0), (std::vector<std::string>{"20", "one-bit"}));
    EXPECT_EQ(grid.values(4), (std::vector<std::string>{"[ 10, 40 ]", "float"}));
    EXPECT_EQ(grid.settings(1)[0], "problem.snr_db=20");
    std::set<std::string> folders;
    for (std::size_t i = 0; i < grid.size(); ++i) folders.insert(grid.folder(i));
    EXPECT_EQ(folders.size(), 6u);
    EXPECT_TRUE(folders.contains("problem.snr_db=20,model.weights=one-bit"));
    for (const std::string& name : folders)
        EXPECT_EQ(name.find_first_of("/ []'\""), std::string::npos) << name;
}

TEST_F(GridFile, ManyCombinationsAreCountedWithoutMakingThem) {
    std::string text = "[grid]\n";
    for (const char* key : {"model.layers", "problem.m", "problem.n", "train.batch",
                            "problem.train", "problem.test", "train.seeds"}) {
        text += std::string(key) + " = [1";
        for (int i = 2; i <= 1000; ++i) text += "," + std::to_string(i);
        text += "]\n";
    }
    EXPECT_EQ(read(text).size(), 1'000'000'000'000'000'000u);
}

TEST_F(GridFile, WhatIsNoGridIsRefusedWithItsLine) {
    EXPECT_NE(refusal("[model]\nlayers = 3\n").find("no section [grid]"), std::string::npos);
    EXPECT_NE(refusal("[grid]\nmodel.layer = [3]\n")
                  .find("grid.toml:2: unknown key 'model.layer'; did you mean 'model.layers'?"),
              std::string::npos);
    EXPECT_NE(refusal("[grid]\nmodel.layers = 3\n").find("expected a list"), std::string::npos);
    EXPECT_NE(refusal("[grid]\nmodel.layers = []\n").find("expected a list"), std::string::npos);
    EXPECT_NE(refusal("[grid]\nmodel.layers = [3, 3]\n").find("3 stands twice"), std::string::npos);
}

}  // namespace
}  // namespace pibinn::study
