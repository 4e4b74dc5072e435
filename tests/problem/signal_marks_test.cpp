#include "problem/signal_marks.hpp"

#include <gtest/gtest.h>

#include "problem/noise_words.hpp"

namespace pibinn {
namespace {

Batch some_signals(std::size_t count, float first) {
    Batch x(count, 3);
    for (std::size_t i = 0; i < x.size(); ++i) x.values()[i] = first + static_cast<float>(i);
    return x;
}

TEST(SignalMarks, KnowTheirSignalsAgain) {
    const Batch x = some_signals(100, 1);
    const std::string marks = signal_marks(x);
    EXPECT_EQ(marks.size(), 16 * 17 - 1U);
    EXPECT_EQ(share_marked(marks, x), 1);
    EXPECT_EQ(share_marked(marks, some_signals(100, 1000)), 0);
    EXPECT_NEAR(share_marked(marks, x.view().row_range(0, 50)), 0.5, 0.01);
}

TEST(SignalMarks, LeaveZeroSignalsOut) {
    const Batch zero(20, 3);
    EXPECT_EQ(signal_marks(zero), "");
    EXPECT_EQ(share_marked("", zero), 0);
    EXPECT_EQ(share_marked(signal_marks(some_signals(2, 1)), zero), 0);
}

TEST(NoiseWords, ComeBackAsTheyWere) {
    Problem problem;
    EXPECT_EQ(noise_words(problem), "");
    problem.noise_std = 0.1;
    EXPECT_EQ(parse_noise_words(noise_words(problem)).std, 0.1);
    problem.snr_db = SnrRange{10, 22.5};
    EXPECT_EQ(parse_noise_words(noise_words(problem)).snr_db, problem.snr_db);
    problem.test_disturbance.artefacts = Batch(1, 1);
    EXPECT_TRUE(parse_noise_words(noise_words(problem)).artefacts);
    problem.given_measurements = true;
    EXPECT_TRUE(parse_noise_words(noise_words(problem)).given);
}

TEST(NoiseWords, ThatCannotBeReadSayNothing) {
    for (const char* text : {"", "std", "std -1", "std nan", "snr_db 3", "snr_db 9 1", "loud"}) {
        const NoiseWords noise = parse_noise_words(text);
        EXPECT_FALSE(noise.std || noise.snr_db || noise.given || noise.artefacts) << text;
    }
}

}  // namespace
}  // namespace pibinn
