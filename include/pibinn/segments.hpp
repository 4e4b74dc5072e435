// room: data
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "pibinn/user_array.hpp"

namespace pibinn {

/// Segments of recorded signals, one per row, and artefacts to contaminate them with.
struct SegmentSpec {
    std::filesystem::path folder;  ///< where find_segments() looks for what is not named below
    std::string clean;             ///< array file of the segments
    std::string clean_ids;         ///< array file: the recording of each segment
    std::string artefact;          ///< array file; empty for none
    std::string artefact_ids;      ///< likewise
    std::optional<std::size_t> train, test;  ///< unless given, all: four fifths to train
    bool split_by_recording = false;         ///< needs clean_ids: no recording is on both sides
};

struct SegmentSet {
    UserArray train, test;
    UserArray train_artefacts,
        test_artefacts;  ///< four fifths and the rest, split as the segments are
    std::size_t train_recordings = 0, test_recordings = 0;  ///< 0 where no ids were used
};

/// Fills in the files of `folder`, which is laid out as EEGdenoiseNet's: EEG_all_epochs.npy,
/// EOG_all_epochs.npy, EMG_all_epochs.npy, and NAME_source_ids.npy where there are any. `artefact`
/// "eog" or "emg" becomes one of these files, "none" becomes empty, and a file stays as it is. A
/// field that is already set is kept.
void find_segments(SegmentSpec& spec);

/// Reads the segments and splits them by the seed. Artefacts of another length, silent artefacts,
/// ids that do not fit and too few segments are input errors.
SegmentSet read_segments(const SegmentSpec& spec, std::uint64_t seed);

}  // namespace pibinn
