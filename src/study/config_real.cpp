#include "study/config_real.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "core/names.hpp"
#include "pibinn/array.hpp"
#include "study/config.hpp"
#include "study/config_document.hpp"

namespace pibinn::study {

namespace {

using Value = ConfigValue;

constexpr std::size_t kLargestPatch = 128;
constexpr double kLargestSnr = 200;

bool parse_split(std::string_view word) {
    enum class Split { image, recording, patch, row };
    static constexpr NameTable<Split, 4> names{{{Split::image, "image"},
                                                {Split::recording, "recording"},
                                                {Split::patch, "patch"},
                                                {Split::row, "row"}}};
    const Split split = parse_name(names, word, "split");
    return split == Split::image || split == Split::recording;
}

bool parse_senses(std::string_view word) {
    static constexpr NameTable<bool, 2> names{{{false, "coefficients"}, {true, "signals"}}};
    return parse_name(names, word, "place of sensing");
}

void set_basis(const Value& value, RealConfig& real) {
    real.basis = value.text();
    if (names_array(real.basis)) {
        real.basis = value.path();
        return;
    }
    value.word(parse_named_basis);
}

void set_artefact(const Value& value, RealConfig& real) {
    real.artefact = value.text();
    if (names_array(real.artefact)) {
        real.artefact = value.path();
        return;
    }
    value.word([](std::string_view word) {
        static constexpr NameTable<int, 3> names{{{0, "none"}, {1, "eog"}, {2, "emg"}}};
        return parse_name(names, word, "artefact");
    });
}

void set_snr(const Value& value, RealConfig& real) {
    if (!value.node().is_array()) {
        const double db = value.number(-kLargestSnr, kLargestSnr);
        real.snr_db = {db, db};
        return;
    }
    const toml::array& range = *value.node().as_array();
    if (range.size() != 2)
        value.fail("expected a number or two", "write snr_db = 20 or snr_db = [5, 20]");
    const auto side = [&](std::size_t i) {
        return Value(value.key(), range[i]).number(-kLargestSnr, kLargestSnr);
    };
    real.snr_db = {side(0), side(1)};
    if (real.snr_db->least_db > real.snr_db->most_db)
        value.fail("the range is upside down", "write the lower number first");
}

/// A split is named after what is kept apart, which pictures and segments call differently.
void require_split_of_kind(const Value& value, ProblemKind kind) {
    const std::string word = value.text();
    if (kind == ProblemKind::images && (word == "recording" || word == "row"))
        value.fail(fmt::format("pictures are not split by {}", word), "use image or patch");
    if (kind == ProblemKind::signals && (word == "image" || word == "patch"))
        value.fail(fmt::format("segments are not split by {}", word), "use recording or row");
}

/// Segments are contaminated by what is named, and in a folder by its eye movements unless told
/// otherwise.
bool has_artefact(const ProblemConfig& problem) {
    const RealConfig& real = problem.real;
    if (problem.kind != ProblemKind::signals || real.artefact == "none") return false;
    return !real.artefact.empty() || !real.path.empty();
}

/// Keys that this kind looks at, but not beside the others that are set.
void require_effect(const Value& value, std::string_view key, const ProblemConfig& problem) {
    const RealConfig& real = problem.real;
    if (key == "artefact_ids" && !has_artefact(problem))
        value.fail("there is no artefact", "remove it, or set problem.artefact to a file");
    if (key == "snr_db" && real.noise_std && !has_artefact(problem))
        value.fail("noise_std is given too", "say the noise in one of the two ways");
    if (key == "noise_at" && real.snr_db && !has_artefact(problem))
        value.fail("snr_db is noise of the measurements", "remove one of the two");
    if (key == "snr_db" && !problem.y_file.empty())
        value.fail("it would add noise to measurements that are given",
                   "remove it, or y to let the operator measure");
    const StructureKind structure = problem.spec.structure;
    if (key == "repeat" && problem.kind != ProblemKind::synthetic &&
        (structure == StructureKind::dense || structure == StructureKind::mask))
        value.fail(fmt::format("a structure of {} has no blocks to repeat", to_string(structure)),
                   "remove it, or set problem.structure to repeated or blocks");
}

}  // namespace

std::vector<ConfigKey> real_keys(RealConfig& real) {
    constexpr KeyKinds images{ProblemKind::images};
    constexpr KeyKinds signals{ProblemKind::signals};
    constexpr KeyKinds both{ProblemKind::images, ProblemKind::signals};
    constexpr KeyKinds given{ProblemKind::arrays, ProblemKind::images, ProblemKind::signals};
    return {
        {"patch", "", "8", "side of the square patches; 8 by default",
         [&](const Value& v) { real.patch = v.whole(1, kLargestPatch); }, images},
        {"patches", "", "25", "patches per photo; 25 by default",
         [&](const Value& v) { real.patches = v.whole(1, 1000000); }, images},
        {"normalize", "", "\"zscore\"",
         "\"zscore\" (the default), \"global\", \"patch\" or \"none\"",
         [&](const Value& v) { real.normalize = v.word(parse_normalize); }, both},
        {"noise_at", "", "\"signals\"",
         "where noise_std is added: \"signals\" (the default), \"normalised\", "
         "\"measurements\"",
         [&](const Value& v) { real.noise_place = v.word(parse_noise_place); }, both},
        {"split", "", "\"image\"",
         "what is never on both sides: \"image\" or \"patch\", \"recording\" or \"row\"",
         [&](const Value& v) { real.split_apart = v.word(parse_split); }, both},
        {"senses", "", "\"coefficients\"",
         "what the operator acts on: \"coefficients\" (a drawn one) or \"signals\" (a file)",
         [&](const Value& v) { real.on_signals = v.word(parse_senses); }, both},
        {"basis", "", "\"dct\"",
         fmt::format("in which signals are sparse: \"{}\", or a file of an orthonormal matrix; "
                     "fourier is of complex signals; by default identity for arrays, dct2 for "
                     "images, dct for signals",
                     fmt::join(basis_names(), "\", \"")),
         [&](const Value& v) { set_basis(v, real); }, given},
        {"ids", "", "\"ids.npy\"", "array file that says which recording each segment is of",
         [&](const Value& v) { real.ids = v.path(); }, signals},
        {"artefact", "", "\"eog\"",
         "contamination: \"none\", \"eog\" or \"emg\" of the folder, or an array file",
         [&](const Value& v) { set_artefact(v, real); }, signals},
        {"artefact_ids", "", "\"artefact_ids.npy\"",
         "array file that says which recording each artefact is of",
         [&](const Value& v) { real.artefact_ids = v.path(); }, signals},
        {"snr_db", "", "20",
         "measurement to noise in dB, or [least, most], instead of noise_std; with an artefact, "
         "signal to artefact, 20 by default; beamspace uses [0, 20], access 10, fourier 20",
         [&](const Value& v) { set_snr(v, real); }},
    };
}

void require_key_of_kind(const ProblemConfig& problem, const ConfigValue& value,
                         const KeyKinds& kinds) {
    const std::string key = value.key().substr(value.key().rfind('.') + 1);
    if (key == "split") require_split_of_kind(value, problem.kind);
    if (!kinds.contains(problem.kind))
        value.fail(fmt::format("a problem of kind {} has no such key", to_string(problem.kind)),
                   fmt::format("remove it, or set problem.kind to {}", kinds.text()));
    require_effect(value, key, problem);
}

void settle_real(ProblemConfig& problem) {
    RealConfig& real = problem.real;
    const bool images = problem.kind == ProblemKind::images;
    if (!has_artefact(problem)) problem.spec.snr_db = real.snr_db;
    if (!images && problem.kind != ProblemKind::signals) {
        if (real.basis.empty()) real.basis = "identity";
        return;
    }
    if (images && real.path.empty())
        fail_usage("a problem of images needs a folder of pictures",
                   "set problem.path to a folder of JPEG or PNG pictures");
    if (!images && real.path.empty() && problem.x_file.empty())
        fail_usage("a problem of signals needs segments",
                   "set problem.x = \"segments.npy\", or problem.path to a folder that holds "
                   "EEG_all_epochs.npy");
    if (real.basis.empty()) real.basis = images ? "dct2" : "dct";
    if (real.basis == to_string(BasisKind::fourier))
        fail_usage(fmt::format("basis '{}' is of complex signals, and those of problem.kind '{}' "
                               "are real",
                               real.basis, to_string(problem.kind)),
                   "set problem.basis = \"dct\"");
    if (!real.normalize) real.normalize = Normalize::zscore;
    // The paper's noise; segments have their artefacts instead.
    if (!real.noise_std) real.noise_std = images && !real.snr_db ? 0.05 : 0.0;
    if (real.artefact.empty()) real.artefact = images || real.path.empty() ? "none" : "eog";
    problem.spec.repeat = real.repeat.value_or(2);
}

}  // namespace pibinn::study
