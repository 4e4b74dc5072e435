#include "study/cell_study.hpp"

#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/contains.hpp"
#include "pibinn/error.hpp"

namespace pibinn::study {
namespace {

TEST(CellStudy, KeepsItsFolderWhileItsResultsAreWritten) {
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("pibinn-cells-{}", ::getpid());
    ThreadPool pool(1);
    const auto made = [&](std::optional<Study>& study) {
        study.emplace(folder, "a test");
        study->add({"cell",
                    "",
                    {"problem.m=6", "problem.n=10", "problem.train=20", "problem.test=5",
                     "model.layers=1", "train.stage.pretrain.epochs=1",
                     "train.stage.joint.epochs=1", "train.stage.stage2.epochs=1"}});
    };
    std::optional<Study> first, second;
    made(first);
    EXPECT_TRUE(first->train({}, pool));
    made(second);
    try {
        second->train({}, pool);
        ADD_FAILURE() << "two studies in one folder";
    } catch (const Error& error) {
        EXPECT_TRUE(contains(error.what(), "is in use by another run")) << error.what();
    }
    first.reset();
    EXPECT_TRUE(second->train({}, pool));
    EXPECT_TRUE(second->train({}, pool));  // which has it already
    second.reset();
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pibinn::study
