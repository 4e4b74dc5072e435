#include "core/progress_text.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

constexpr const char* kDetail = "joint  loss 0.0123  test -19.62 dB";

Progress training(std::uint64_t done, std::uint64_t total, const char* detail = kDetail) {
    return {"training", done, total, detail};
}

TEST(DurationWords, SaysSecondsMinutesHoursAndDays) {
    EXPECT_EQ(duration_words(0.2), "0 s");
    EXPECT_EQ(duration_words(35), "35 s");
    EXPECT_EQ(duration_words(99), "99 s");
    EXPECT_EQ(duration_words(120), "2 min");
    EXPECT_EQ(duration_words(59 * 60), "59 min");
    EXPECT_EQ(duration_words(3600), "1 h");
    EXPECT_EQ(duration_words(12000), "3 h 20 min");
    EXPECT_EQ(duration_words(4 * 86400), "4 days");
    EXPECT_EQ(duration_words(1e300), "over 1000 days");
}

TEST(ProgressText, IsOneLineWithShareRateTimeLeftAndDetail) {
    EXPECT_EQ(progress_text(training(42, 100), 0.35),
              "training  42 %  120/s  0 s left  joint  loss 0.0123  test -19.62 dB");
    EXPECT_EQ(progress_text(training(5, 100, ""), 5), "training  5 %  1/s  95 s left");
    EXPECT_EQ(progress_text(training(100, 100, ""), 50), "training  100 %  2/s");
}

TEST(ProgressText, CountsWhereTheTotalIsUnknown) {
    EXPECT_EQ(progress_text({"recover", 1200, 0, ""}, 10), "recover  1200 done  120/s");
    EXPECT_EQ(progress_bar({"recover", 1200, 0, ""}, 10, 80), "recover  1200 done  120/s");
}

TEST(ProgressText, LeavesRestoredStepsOutOfTheRate) {
    Progress p = training(60, 100, "");
    p.restored = 50;
    EXPECT_EQ(progress_text(p, 10), "training  60 %  1/s  40 s left");
}

TEST(ProgressText, WritesLargeRatesWithAUnit) {
    EXPECT_EQ(progress_text({"recover", 1234567, 0, ""}, 1), "recover  1234567 done  1.23M/s");
    EXPECT_EQ(progress_text({"recover", 9996, 0, ""}, 10), "recover  9996 done  1k/s");
}

TEST(ProgressBar, ShowsEverythingWhereThereIsRoom) {
    EXPECT_EQ(progress_bar(training(50, 100), 25, 120),
              "training [######......]  50 %  2/s  25 s left  joint  loss 0.0123  test -19.62 dB");
}

TEST(ProgressBar, StaysNarrowerThanTheTerminal) {
    for (std::size_t columns = 0; columns <= 300; ++columns)
        for (const std::uint64_t done : {0U, 1U, 50U, 99U, 100U})
            for (const char* detail :
                 {"", kDetail,
                  "one-bit-channel-repeated  stage2  loss 1.234e-05  test -119.62 dB"}) {
                const std::string line = progress_bar(training(done, 100, detail), 3.7, columns);
                EXPECT_LT(line.size(), std::max<std::size_t>(columns, 1)) << line;
            }
}

TEST(ProgressBar, GivesUpTheRateThenTheDetailThenTheBar) {
    const Progress p = training(50, 100);
    EXPECT_EQ(progress_bar(p, 25, 80),
              "training [####....]  50 %  2/s  25 s left  joint  loss 0.0123  test -19.62 dB");
    EXPECT_EQ(progress_bar(p, 25, 75),
              "training [###....]  50 %  25 s left  joint  loss 0.0123  test -19.62 dB");
    EXPECT_EQ(progress_bar(p, 25, 60), "training [###...]  50 %  25 s left  joint  loss 0.0123");
    EXPECT_EQ(progress_bar(p, 25, 40), "training [##..]  50 %  25 s left  joint");
    EXPECT_EQ(progress_bar(p, 25, 31), "training [#.]  50 %  25 s left");
    EXPECT_EQ(progress_bar(p, 25, 28), "training  50 %  25 s left");
    EXPECT_EQ(progress_bar(p, 25, 12), "training  5");
}

TEST(ProgressBar, CutsBetweenCharacters) {
    EXPECT_EQ(progress_bar({"\xc2\xb5\xc2\xb5\xc2\xb5", 1, 0, ""}, 1, 6), "\xc2\xb5\xc2\xb5");
}

TEST(ProgressPace, WaitsForTheFirstLineAndThenForEveryOther) {
    ProgressPace pace(10, 30);
    EXPECT_FALSE(pace.due(0));
    EXPECT_FALSE(pace.due(9.9));
    EXPECT_TRUE(pace.due(12));
    EXPECT_FALSE(pace.due(13));
    EXPECT_FALSE(pace.due(41.9));
    EXPECT_TRUE(pace.due(42));
    pace.restart();
    EXPECT_FALSE(pace.due(9.9));
    EXPECT_TRUE(pace.due(10));
}

}  // namespace
}  // namespace pibinn
