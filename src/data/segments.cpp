#include "pibinn/segments.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/names.hpp"
#include "core/path.hpp"
#include "data/rows.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/random.hpp"

namespace pibinn {

namespace {

namespace fs = std::filesystem;

/// Row numbers of the training set and of the test set, in the order in which they are used.
struct SegmentSplit {
    std::vector<std::uint32_t> train, test;
    std::size_t train_recordings = 0, test_recordings = 0;
};

struct WantedRows {
    std::size_t train = 0, test = 0;
};

WantedRows wanted_rows(std::size_t rows, std::optional<std::size_t> train,
                       std::optional<std::size_t> test) {
    WantedRows wanted;
    wanted.train = train ? *train : test ? rows - std::min(rows, *test) : rows * 4 / 5;
    wanted.test = test.value_or(rows - std::min(rows, wanted.train));
    return wanted;
}

/// Rows of equal ids, in random order of the recordings.
std::vector<std::vector<std::uint32_t>> recordings_of(const Batch& ids, Stream stream) {
    std::map<std::vector<float>, std::vector<std::uint32_t>> groups;
    for (std::size_t i = 0; i < ids.rows(); ++i)
        groups[{ids.row(i).begin(), ids.row(i).end()}].push_back(static_cast<std::uint32_t>(i));
    std::vector<std::vector<std::uint32_t>> sorted;
    for (auto& [id, rows] : groups) sorted.push_back(std::move(rows));
    std::vector<std::vector<std::uint32_t>> mixed;
    for (const std::uint32_t at : stream.permutation(sorted.size()))
        mixed.push_back(std::move(sorted[at]));
    return mixed;
}

/// Whole recordings to train until there are enough rows, the others to test. With `exact`, surplus
/// rows are left out on both sides.
SegmentSplit split_recordings(const Batch& ids, const WantedRows& wanted, bool exact,
                              Stream stream) {
    SegmentSplit split;
    for (const auto& rows : recordings_of(ids, stream)) {
        const bool train = split.train.size() < wanted.train;
        std::vector<std::uint32_t>& side = train ? split.train : split.test;
        side.insert(side.end(), rows.begin(), rows.end());
        ++(train ? split.train_recordings : split.test_recordings);
    }
    if (exact && split.train.size() > wanted.train) split.train.resize(wanted.train);
    if (exact && split.test.size() > wanted.test) split.test.resize(wanted.test);
    // Training recordings stay in one piece, so that the last rows, kept for validation, are of
    // other recordings. Test segments are shuffled, so that the first ones, which reports show,
    // differ.
    std::vector<std::uint32_t> mixed;
    for (const std::uint32_t at : stream.permutation(split.test.size()))
        mixed.push_back(split.test[at]);
    split.test = std::move(mixed);
    return split;
}

SegmentSplit split_rows(std::size_t rows, const WantedRows& wanted, Stream stream) {
    const std::vector<std::uint32_t> order = stream.permutation(rows);
    const auto at = [&](std::size_t i) {
        return order.begin() + static_cast<std::ptrdiff_t>(std::min(i, rows));
    };
    return {{at(0), at(wanted.train)}, {at(wanted.train), at(wanted.train + wanted.test)}, 0, 0};
}

Batch read_ids(const std::string& file, std::size_t rows, const std::string& of) {
    Batch ids = read_array(file);
    // read_array gives a 1-D list of ids as one row.
    if (ids.rows() == 1 && ids.cols() == rows && rows > 1) {
        Batch column(rows, 1);
        std::copy(ids.values().begin(), ids.values().end(), column.data());
        ids = std::move(column);
    }
    if (ids.rows() != rows)
        fail_input(fmt::format("'{}' has ids of {} rows, '{}' has {} segments", file,
                               ids.rows() == 1 ? ids.cols() : ids.rows(), of, rows),
                   "give one row of ids for each segment, or a list of as many ids");
    return ids;
}

void require_loud(const UserArray& artefacts, const std::string& file) {
    for (std::size_t i = 0; i < artefacts.rows(); ++i) {
        bool silent = true;
        for (std::size_t j = 0; j < artefacts.cols(); ++j)
            silent = silent && static_cast<float>(artefacts(i, j)) == 0;
        if (silent)
            fail_input(fmt::format("'{}' is silent in row {} (counted from 0)", file, i),
                       "there is no signal-to-noise ratio to silence: remove such segments");
    }
}

void split_artefacts(const SegmentSpec& spec, std::size_t length, std::uint64_t seed,
                     SegmentSet& set) {
    const UserArray artefacts = read_real_array(spec.artefact);
    if (artefacts.rows() < 2 || artefacts.cols() != length)
        fail_input(
            fmt::format("'{}' holds {} artefacts of {} samples, but the segments of '{}' "
                        "have {}",
                        spec.artefact, artefacts.rows(), artefacts.cols(), spec.clean, length),
            "give at least two artefacts, as long as the segments");
    require_loud(artefacts, spec.artefact);
    const Stream stream(seed, Purpose::split, 3);
    const WantedRows wanted = wanted_rows(artefacts.rows(), {}, {});
    SegmentSplit split;
    if (spec.split_by_recording && !spec.artefact_ids.empty())
        split = split_recordings(read_ids(spec.artefact_ids, artefacts.rows(), spec.artefact),
                                 wanted, false, stream);
    if (split.train.empty() || split.test.empty())
        split = split_rows(artefacts.rows(), wanted, stream);
    set.train_artefacts = pick_rows(artefacts, split.train);
    set.test_artefacts = pick_rows(artefacts, split.test);
}

}  // namespace

void find_segments(SegmentSpec& spec) {
    const fs::path& folder = spec.folder;
    const auto in_folder = [&](const std::string& name) { return (folder / name).string(); };
    const auto ids_of = [&](const std::string& name) {
        return path_exists(folder / (name + "_source_ids.npy"))
                   ? in_folder(name + "_source_ids.npy")
                   : std::string();
    };
    if (spec.clean.empty()) {
        if (folder.empty())
            fail_usage(
                "a problem of signals needs segments",
                "set SegmentSpec::clean = \"segments.npy\", or SegmentSpec::folder to a folder "
                "that holds EEG_all_epochs.npy");
        spec.clean = in_folder("EEG_all_epochs.npy");
        if (spec.clean_ids.empty()) spec.clean_ids = ids_of("EEG");
    }
    if (spec.artefact.empty() || spec.artefact == "none") {
        spec.artefact.clear();
        return;
    }
    if (names_array(spec.artefact)) return;
    static constexpr NameTable<const char*, 2> names{{{"EOG", "eog"}, {"EMG", "emg"}}};
    const std::string name = parse_name(names, spec.artefact, "artefact");
    if (folder.empty())
        fail_usage(fmt::format("artefact '{}' is looked for in a folder", spec.artefact),
                   "set SegmentSpec::folder to it, or SegmentSpec::artefact to a file");
    spec.artefact = in_folder(name + "_all_epochs.npy");
    // When the segments are missing too, read_segments reports them first.
    if (!path_exists(spec.artefact) && path_exists(array_file(spec.clean)))
        fail_io(fmt::format("cannot open '{}': there is no such file", spec.artefact),
                "set SegmentSpec::artefact to a file of artefacts, or to \"none\" to do without");
    if (spec.artefact_ids.empty()) spec.artefact_ids = ids_of(name);
}

SegmentSet read_segments(const SegmentSpec& spec, std::uint64_t seed) {
    const UserArray clean = read_real_array(spec.clean);
    const WantedRows wanted = wanted_rows(clean.rows(), spec.train, spec.test);
    const Stream stream(seed, Purpose::split, 2);
    if (spec.split_by_recording && spec.clean_ids.empty())
        fail_usage("a split by recording needs to know which recording each segment is of",
                   "set SegmentSpec::clean_ids = \"ids.npy\", or "
                   "SegmentSpec::split_by_recording = false");
    const SegmentSplit split =
        spec.split_by_recording
            ? split_recordings(read_ids(spec.clean_ids, clean.rows(), spec.clean), wanted,
                               spec.train || spec.test, stream)
            : split_rows(clean.rows(), wanted, stream);
    const bool exact_test = spec.test.has_value() || !spec.split_by_recording;
    if (split.train.empty() || split.test.empty() || split.train.size() < wanted.train ||
        (exact_test && split.test.size() < wanted.test))
        fail_input(fmt::format("'{}' holds {} segments{}, which do not give {} to train and {} to "
                               "test",
                               spec.clean, clean.rows(),
                               spec.split_by_recording
                                   ? fmt::format(" of {} recordings",
                                                 split.train_recordings + split.test_recordings)
                                   : "",
                               wanted.train, wanted.test),
                   "lower SegmentSpec::train or SegmentSpec::test, or give more segments");
    SegmentSet set;
    set.train = pick_rows(clean, split.train);
    set.test = pick_rows(clean, split.test);
    set.train_recordings = split.train_recordings;
    set.test_recordings = split.test_recordings;
    if (!spec.artefact.empty()) split_artefacts(spec, clean.cols(), seed, set);
    return set;
}

}  // namespace pibinn
