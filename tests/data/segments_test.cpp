#include "pibinn/segments.hpp"

#include <cmath>
#include <set>

#include "data/files.hpp"
#include "pibinn/npy.hpp"

namespace pibinn {
namespace {

/// Row i holds i everywhere but in its first sample, so that a row tells its number.
Batch numbered(std::size_t rows, std::size_t cols) {
    Batch batch(rows, cols);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j) batch(i, j) = static_cast<float>(i + 1);
    return batch;
}

/// Recordings of three rows each, in two columns.
Batch ids_of(std::size_t rows) {
    Batch ids(rows, 2);
    for (std::size_t i = 0; i < rows; ++i) ids(i, 1) = static_cast<float>(i / 3);
    return ids;
}

std::set<int> rows_in(const UserArray& batch, int divisor = 1) {
    std::set<int> rows;
    for (std::size_t i = 0; i < batch.rows(); ++i)
        rows.insert((static_cast<int>(batch(i, 0)) - 1) / divisor);
    return rows;
}

bool disjoint(const std::set<int>& a, const std::set<int>& b) {
    for (const int v : a)
        if (b.count(v)) return false;
    return true;
}

class Segments : public ::testing::Test {
protected:
    void SetUp() override {
        write_npy(folder / "EEG_all_epochs.npy", numbered(60, 8));
        write_npy(folder / "EEG_source_ids.npy", ids_of(60));
        write_npy(folder / "EMG_all_epochs.npy", numbered(30, 8));
        write_npy(folder / "EMG_source_ids.npy", ids_of(30));
    }
    std::string message(const SegmentSpec& spec) {
        return message_of([&] { read_segments(spec, 1); });
    }
    SegmentSpec found(const std::string& artefact) {
        SegmentSpec spec;
        spec.artefact = artefact;
        spec.folder = folder.path();
        find_segments(spec);
        spec.split_by_recording = true;
        return spec;
    }
    TestFolder folder;
};

TEST_F(Segments, OfARecordingAreOnOneSideOnly) {
    const SegmentSet set = read_segments(found("emg"), 1);
    EXPECT_EQ(set.train.rows() + set.test.rows(), 60u);
    EXPECT_EQ(set.train_recordings, 16u);
    EXPECT_EQ(set.test_recordings, 4u);
    EXPECT_TRUE(disjoint(rows_in(set.train, 3), rows_in(set.test, 3)));
    EXPECT_EQ(set.train_artefacts.rows() + set.test_artefacts.rows(), 30u);
    EXPECT_TRUE(disjoint(rows_in(set.train_artefacts, 3), rows_in(set.test_artefacts, 3)));
    EXPECT_EQ(read_segments(found("emg"), 1).train, set.train);
    EXPECT_NE(read_segments(found("emg"), 2).train, set.train);
}

TEST_F(Segments, OfARecordingStandTogetherToTrainOn) {
    const SegmentSet set = read_segments(found("none"), 1);
    std::set<int> finished;
    int now = -1;
    for (std::size_t i = 0; i < set.train.rows(); ++i) {
        const int recording = (static_cast<int>(set.train(i, 0)) - 1) / 3;
        if (recording != now) {
            EXPECT_EQ(finished.count(recording), 0u) << "row " << i;
            finished.insert(now);
            now = recording;
        }
    }
    EXPECT_GT(finished.size(), 5u);
}

TEST_F(Segments, NumbersThatAreAskedForAreKept) {
    SegmentSpec spec = found("none");
    spec.train = 20;
    spec.test = 10;
    const SegmentSet set = read_segments(spec, 1);
    EXPECT_EQ(set.train.rows(), 20u);
    EXPECT_EQ(set.test.rows(), 10u);
    EXPECT_TRUE(disjoint(rows_in(set.train, 3), rows_in(set.test, 3)));
    EXPECT_EQ(set.train_artefacts.rows(), 0u);
    spec.split_by_recording = false;
    const SegmentSet rows = read_segments(spec, 1);
    EXPECT_EQ(rows.train.rows(), 20u);
    EXPECT_TRUE(disjoint(rows_in(rows.train), rows_in(rows.test)));
    EXPECT_FALSE(disjoint(rows_in(rows.train, 3), rows_in(rows.test, 3)));
    spec.train = 55;
    EXPECT_NE(message(spec).find("60 segments"), std::string::npos);
}

TEST_F(Segments, WhatDoesNotFitIsRefused) {
    SegmentSpec spec = found("emg");
    write_npy(folder / "short.npy", numbered(5, 7));
    spec.artefact = (folder / "short.npy").string();
    spec.artefact_ids.clear();
    EXPECT_NE(message(spec).find("7 samples"), std::string::npos);
    Batch silent = numbered(5, 8);
    for (float& v : silent.row(3)) v = 0;
    write_npy(folder / "silent.npy", silent);
    spec.artefact = (folder / "silent.npy").string();
    EXPECT_NE(message(spec).find("silent in row 3"), std::string::npos);
    spec.artefact.clear();
    write_npy(folder / "ids.npy", ids_of(59));
    spec.clean_ids = (folder / "ids.npy").string();
    EXPECT_NE(message(spec).find("59 rows"), std::string::npos);
    spec.clean_ids.clear();
    EXPECT_NE(message(spec).find("needs to know"), std::string::npos);
    EXPECT_NE(message_of([&] { found("eeg"); }).find("unknown artefact"), std::string::npos);
    Batch nan = numbered(6, 8);
    nan(4, 2) = NAN;
    write_npy(folder / "nan.npy", nan);
    spec.clean = (folder / "nan.npy").string();
    EXPECT_NE(message(spec).find("row 4, column 2"), std::string::npos);
}

TEST_F(Segments, AListOfIdsMayBeOneRow) {
    Batch row(1, 60);
    for (std::size_t i = 0; i < 60; ++i) row(0, i) = static_cast<float>(i / 3);
    write_npy(folder / "row.npy", row);
    SegmentSpec spec = found("none");
    spec.clean_ids = (folder / "row.npy").string();
    EXPECT_EQ(read_segments(spec, 1).train_recordings, 16u);
}

}  // namespace
}  // namespace pibinn
