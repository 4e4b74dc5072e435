#include "cli/config_real.hpp"

#include <algorithm>
#include <array>

#include "cli/config.hpp"
#include "core/names.hpp"
#include "pibinn/array.hpp"

namespace pibinn::cli {

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
    value.word([](std::string_view word) {
        static constexpr NameTable<int, 3> names{{{0, "identity"}, {1, "dct"}, {2, "dct2"}}};
        return parse_name(names, word, "basis");
    });
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
        real.least_snr_db = real.most_snr_db = value.number(-kLargestSnr, kLargestSnr);
        return;
    }
    const toml::array& range = *value.node().as_array();
    if (range.size() != 2)
        value.fail("expected a number or two", "write snr_db = 20 or snr_db = [5, 20]");
    real.least_snr_db = Value(value.key(), range[0]).number(-kLargestSnr, kLargestSnr);
    real.most_snr_db = Value(value.key(), range[1]).number(-kLargestSnr, kLargestSnr);
    if (real.least_snr_db > real.most_snr_db)
        value.fail("the range is upside down", "write the lower number first");
}

/// Which kinds of problem look at a key; keys that are not listed are for all.
struct KeyUse {
    std::string_view key;
    bool synthetic, arrays, images, signals;
};
constexpr std::array kUses{
    KeyUse{"density", true, true, false, false},
    KeyUse{"support", true, true, false, false},
    KeyUse{"n", true, true, false, false},
    KeyUse{"y", true, true, false, false},  // a synthetic problem has its own words for this one
    KeyUse{"x", true, true, false, true},
    KeyUse{"patch", false, false, true, false},
    KeyUse{"patches", false, false, true, false},
    KeyUse{"normalize", false, false, true, true},
    KeyUse{"noise_at", false, false, true, true},
    KeyUse{"split", false, false, true, true},
    KeyUse{"senses", false, false, true, true},
    KeyUse{"basis", false, true, true, true},
    KeyUse{"ids", false, false, false, true},
    KeyUse{"artefact", false, false, false, true},
    KeyUse{"artefact_ids", false, false, false, true},
    KeyUse{"snr_db", false, false, false, true},
};

bool used_by(const KeyUse& use, ProblemKind kind) {
    switch (kind) {
        case ProblemKind::synthetic:
            return use.synthetic;
        case ProblemKind::arrays:
            return use.arrays;
        case ProblemKind::images:
            return use.images;
        case ProblemKind::signals:
            return use.signals;
    }
    return false;
}

/// A split is named after what is kept apart, which pictures and segments call differently.
void require_split_of_kind(const Value& value, ProblemKind kind) {
    const std::string word = value.text();
    if (kind == ProblemKind::images && (word == "recording" || word == "row"))
        value.fail(fmt::format("pictures are not split by {}", word), "use image or patch");
    if (kind == ProblemKind::signals && (word == "image" || word == "patch"))
        value.fail(fmt::format("segments are not split by {}", word), "use recording or row");
}

/// Keys that this kind looks at, but not beside the others that are set.
void require_effect(const Value& value, std::string_view key, const ProblemConfig& problem) {
    const RealConfig& real = problem.real;
    const bool no_artefact =
        real.artefact == "none" || (real.artefact.empty() && real.path.empty());
    if ((key == "snr_db" || key == "artefact_ids") && no_artefact)
        value.fail("there is no artefact", "remove it, or set problem.artefact to a file");
    const StructureKind structure = problem.spec.structure;
    if (key == "repeat" && problem.kind != ProblemKind::synthetic &&
        (structure == StructureKind::dense || structure == StructureKind::mask))
        value.fail(fmt::format("a structure of {} has no blocks to repeat", to_string(structure)),
                   "remove it, or set problem.structure to repeated or blocks");
}

std::string kinds_of(const KeyUse& use) {
    std::string kinds;
    for (const ProblemKind kind :
         {ProblemKind::synthetic, ProblemKind::arrays, ProblemKind::images, ProblemKind::signals})
        if (used_by(use, kind))
            kinds += (kinds.empty() ? "" : " or ") + std::string(to_string(kind));
    return kinds;
}

}  // namespace

std::vector<ConfigKey> real_keys(RealConfig& real) {
    return {
        {"patch", [&](const Value& v) { real.patch = v.whole(1, kLargestPatch); }},
        {"patches", [&](const Value& v) { real.patches = v.whole(1, 1000000); }},
        {"normalize", [&](const Value& v) { real.normalize = v.word(parse_normalize); }},
        {"noise_at", [&](const Value& v) { real.noise_place = v.word(parse_noise_place); }},
        {"split", [&](const Value& v) { real.split_apart = v.word(parse_split); }},
        {"senses", [&](const Value& v) { real.on_signals = v.word(parse_senses); }},
        {"basis", [&](const Value& v) { set_basis(v, real); }},
        {"ids", [&](const Value& v) { real.ids = v.path(); }},
        {"artefact", [&](const Value& v) { set_artefact(v, real); }},
        {"artefact_ids", [&](const Value& v) { real.artefact_ids = v.path(); }},
        {"snr_db", [&](const Value& v) { set_snr(v, real); }},
    };
}

void require_keys_of_kind(const ProblemConfig& problem, const std::vector<ConfigValue>& present) {
    for (const ConfigValue& value : present) {
        const std::string key = value.key().substr(value.key().rfind('.') + 1);
        const auto use =
            std::find_if(kUses.begin(), kUses.end(), [&](const KeyUse& u) { return u.key == key; });
        if (key == "split") require_split_of_kind(value, problem.kind);
        if (use != kUses.end() && !used_by(*use, problem.kind))
            value.fail(fmt::format("a problem of kind {} has no such key", to_string(problem.kind)),
                       fmt::format("remove it, or set problem.kind to {}", kinds_of(*use)));
        require_effect(value, key, problem);
    }
}

void settle_real(ProblemConfig& problem) {
    RealConfig& real = problem.real;
    const bool images = problem.kind == ProblemKind::images;
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
    if (!real.normalize) real.normalize = Normalize::zscore;
    // The paper's noise; segments have their artefacts instead.
    if (!real.noise_std) real.noise_std = images ? 0.05 : 0.0;
    if (real.artefact.empty()) real.artefact = images || real.path.empty() ? "none" : "eog";
    problem.spec.repeat = real.repeat.value_or(2);
}

}  // namespace pibinn::cli
