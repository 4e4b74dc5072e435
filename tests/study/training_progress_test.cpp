#include "study/training_progress.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace pibinn::study {
namespace {

TEST(TrainingProgress, AddsUpTrainingsOfDifferentWork) {
    std::vector<std::uint64_t> seen;
    TrainingProgress progress(
        [&](const Progress& p) {
            seen.push_back(p.done);
            EXPECT_EQ(p.total, 100U);
            return true;
        },
        100);
    const ProgressSink light = progress.sink(1, "light");
    const ProgressSink heavy = progress.sink(10, "heavy");
    EXPECT_TRUE(light({"training", 5, 20, "loss"}));
    EXPECT_TRUE(heavy({"training", 3, 8, "loss"}));
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{5, 35}));
    EXPECT_EQ(progress.done(), 35U);
    EXPECT_FALSE(progress.stopped());
}

TEST(TrainingProgress, StopsEveryTrainingOnceTheListenerAsksTo) {
    int calls = 0;
    TrainingProgress progress([&](const Progress&) { return ++calls < 2; }, 10);
    const ProgressSink first = progress.sink();
    const ProgressSink second = progress.sink();
    EXPECT_TRUE(first({"training", 1, 5, ""}));
    EXPECT_FALSE(second({"training", 1, 5, ""}));
    EXPECT_FALSE(first({"training", 2, 5, ""}));
    EXPECT_TRUE(progress.stopped());
}

TEST(TrainingProgress, PassesANoteOnAndNoEmptyOne) {
    std::vector<std::string> notes;
    TrainingProgress progress(
        [&](const Progress& p) {
            notes.emplace_back(p.note);
            return true;
        },
        10);
    progress.note("");
    progress.note("skipped 2 files");
    EXPECT_EQ(notes, std::vector<std::string>{"skipped 2 files"});
}

}  // namespace
}  // namespace pibinn::study
