#include "study/config.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "algebra/sites.hpp"
#include "core/infinity.hpp"
#include "core/names.hpp"
#include "core/path.hpp"
#include "pibinn/array.hpp"
#include "pibinn/recipe.hpp"
#include "study/config_document.hpp"
#include "study/config_operator.hpp"

namespace pibinn::study {

namespace {

using Value = ConfigValue;

constexpr std::uint64_t kMostRows = 1U << 28;

void set_support(const Value& value, SyntheticSpec& spec) {
    std::set<std::uint64_t> seen;
    for (const std::uint64_t entry : value.wholes(0)) {
        if (!seen.insert(entry).second)
            value.fail("entry " + std::to_string(entry) + " stands twice", "name each entry once");
        if (entry >= kLargestSide)
            value.fail("entry " + std::to_string(entry) + " is out of range",
                       "entries count from 0 to n - 1");
        spec.prior.support.push_back(static_cast<std::uint32_t>(entry));
    }
}

/// Reads [problem]; what is said of its sizes decides what else may be said.
struct ProblemReader {
    ProblemConfig problem;
    bool has_m = false;
    bool has_sizes = false;
    bool has_structure = false;
    double ratio = 0;
    std::optional<Value> pairs;  ///< problem.complex = true

    std::vector<ConfigKey> keys();
    void settle();
};

std::vector<ConfigKey> ProblemReader::keys() {
    SyntheticSpec& spec = problem.spec;
    constexpr KeyKinds drawn{ProblemKind::synthetic, ProblemKind::arrays};
    constexpr KeyKinds entries{ProblemKind::synthetic, ProblemKind::arrays, ProblemKind::fourier};
    constexpr KeyKinds sizes{ProblemKind::synthetic, ProblemKind::arrays, ProblemKind::images,
                             ProblemKind::signals, ProblemKind::fourier};
    constexpr KeyKinds operators{ProblemKind::synthetic, ProblemKind::arrays, ProblemKind::images,
                                 ProblemKind::signals, ProblemKind::beamspace};
    constexpr KeyKinds own{ProblemKind::arrays};
    std::vector<ConfigKey> keys{
        {"kind", "\"synthetic\"", "",
         "where signals come from: \"synthetic\" (drawn), \"arrays\" (your own A and x), "
         "\"images\" (a folder of photos), \"signals\" (recorded segments); drawn and complex: "
         "\"beamspace\" (radio channels), \"access\" (who sends, without asking), \"fourier\" "
         "(sparse spectra)",
         [this](const Value& v) { problem.kind = v.word(parse_problem_kind); }},
        {"m", "50", "",
         "measurements per signal: rows of the operator, of one block where it has blocks; of the "
         "whole operator for images and signals; fourier uses 64",
         [&](const Value& v) {
             spec.m = v.whole(1, kLargestSide);
             problem.real.m = spec.m;
             problem.radio.own_m = has_m = true;
         },
         sizes},
        {"n", "100", "",
         "entries per signal: columns of the operator, of one block; fourier uses 256",
         [&](const Value& v) {
             spec.n = v.whole(1, kLargestSide);
             problem.radio.own_n = has_sizes = true;
         },
         entries},
        {"ratio", "", "0.5", "m / n, instead of m; images and signals use 0.5",
         [&](const Value& v) {
             if (has_m) v.fail("m is given too", "give either m or ratio = m / n");
             ratio = v.number(0, 100, true);
             problem.real.ratio = ratio;
         },
         kOperatorKinds},
        {"density", "0.05", "", "share of entries that are not zero",
         [&](const Value& v) {
             spec.prior.density = v.number(0, 1, true);
             problem.radio.own_density = true;
         },
         entries},
        {"support", "", "[1, 5, 9]", "the entries that are not zero, the same in every signal",
         [&](const Value& v) { set_support(v, spec); }, drawn},
        {"train", "4000", "", "signals to train on; four fifths of the rows of arrays and segments",
         [&](const Value& v) { problem.train_rows = v.whole(1, kMostRows); }},
        {"test", "1000", "", "signals to test on; the rest of the rows of arrays and segments",
         [&](const Value& v) { problem.test_rows = v.whole(1, kMostRows); }},
        {"noise_std", "0.0", "",
         "deviation of the noise, on measurements; on pixels for images, which use 0.05",
         [&](const Value& v) {
             spec.noise_std = v.number(0, kInfinity);
             problem.real.noise_std = spec.noise_std;
         },
         sizes},
        {"structure", "\"dense\"", "",
         "which links exist: \"dense\", \"repeated\" (the same block on the diagonal), "
         "\"blocks\" (different ones), \"mask\" (a sparse pattern)",
         [&](const Value& v) {
             spec.structure = v.word(parse_structure_kind);
             has_structure = true;
         },
         kOperatorKinds},
        {"repeat", "100", "", "how many blocks; images and signals use 2",
         [&](const Value& v) {
             spec.repeat = v.whole(1, kLargestSide);
             problem.real.repeat = spec.repeat;
             has_sizes = true;
         },
         kOperatorKinds},
        {"operator", "\"gaussian\"", "",
         "\"gaussian\", \"gaussian-unit\", \"rademacher\", \"hadamard\", \"bernoulli\", "
         "\"binary-sparse\", "
         "\"dct\", \"fourier\", an array file, or a list of files, one per block; beamspace uses "
         "\"rademacher\"",
         [&](const Value& v) {
             set_operator(v, has_structure, problem);
             problem.radio.own_operator = true;
         },
         operators},
        {"blocks", "", "[[16, 32], [8, 24]]", "rows and columns of each block, instead of repeat",
         [&](const Value& v) { set_blocks(v, has_m || has_sizes || ratio > 0, problem); },
         kOperatorKinds},
        {"mask_density", "", "0.1",
         "share of links of a drawn mask; more where a row or column would be empty",
         [&](const Value& v) { set_mask_density(v, problem); }, kOperatorKinds},
        {"ones_per_column",
         "",
         "8",
         "links per column of a binary-sparse operator; 8 by default, or m where that is less",
         [&](const Value& v) { set_ones_per_column(v, problem); },
         {ProblemKind::synthetic, ProblemKind::images, ProblemKind::signals}},
        {"x",
         "",
         "\"x.npy\"",
         "array file of the signals, one per row",
         [&](const Value& v) { problem.x_file = v.path(); },
         {ProblemKind::synthetic, ProblemKind::arrays, ProblemKind::signals}},
        {"y", "", "\"y.npy\"", "array file of their measurements; otherwise the operator measures",
         [&](const Value& v) { problem.y_file = v.path(); }, drawn},
        {"complex", "", "true",
         "of .csv files: every two columns are one complex number, real part and imaginary part; "
         "other formats say it themselves",
         [&](const Value& v) {
             problem.text = v.flag() ? Numbers::complex : Numbers::real;
             if (v.flag()) pairs = v;
         },
         own},
        {"vectors", "", "4",
         "vectors per row of x, one after the other, which all go through the operator and share "
         "their support (antennas, channels); 1 by default",
         [&](const Value& v) { problem.vectors = v.whole(1, kLargestSide); }, own},
        {"path", "", "\"folder\"",
         "a folder that holds A.npy, x.npy and perhaps y.npy, or photos, or recorded segments",
         [&](const Value& v) { problem.real.path = v.path(); }, kOperatorKinds},
    };
    for (ConfigKey& key : real_keys(problem.real)) keys.push_back(std::move(key));
    for (ConfigKey& key : radio_keys(problem)) keys.push_back(std::move(key));
    return keys;
}

void ProblemReader::settle() {
    SyntheticSpec& spec = problem.spec;
    const std::string& folder = problem.real.path;
    settle_real(problem);
    if (is_radio(problem.kind)) settle_radio(problem);
    if (problem.kind == ProblemKind::synthetic) {
        if (!folder.empty() || !problem.x_file.empty() || !problem.y_file.empty())
            fail_usage("a synthetic problem draws its own signals, but problem.path, x or y is set",
                       "set problem.kind = \"arrays\" to use your own");
        if (ratio > 0)
            spec.m = std::max<std::size_t>(
                1, static_cast<std::size_t>(std::lround(ratio * static_cast<double>(spec.n))));
        spec.train = problem.train_rows.value_or(spec.train);
        spec.test = problem.test_rows.value_or(spec.test);
    }
    if (problem.kind != ProblemKind::arrays) return;
    if (!folder.empty()) look_in_folder(folder, problem);
    if (problem.operator_file.empty() && problem.block_files.empty())
        fail_usage("a problem of arrays needs its operator",
                   "set problem.operator = \"A.npy\", or problem.path to a folder that holds it");
    if (problem.x_file.empty())
        fail_usage("a problem of arrays needs signals",
                   "set problem.x = \"x.npy\", or problem.path to a folder that holds it");
    if (pairs) require_text_files(*pairs, problem);
}

ProblemConfig read_problem(const ConfigDocument& document) {
    ProblemReader reader;
    std::vector<ConfigKey> keys = reader.keys();
    std::vector<std::pair<Value, KeyKinds>> present;
    for (ConfigKey& key : keys)
        key.set = [set = std::move(key.set), kinds = key.kinds, &present](const Value& v) {
            set(v);
            present.emplace_back(v, kinds);
        };
    document.read("problem", keys);
    for (const auto& [value, kinds] : present) require_key_of_kind(reader.problem, value, kinds);
    reader.settle();
    return std::move(reader.problem);
}

Update parse_update(std::string_view word) {
    static constexpr NameTable<bool, 2> names{{{true, "accelerated"}, {false, "plain"}}};
    return parse_name(names, word, "update") ? Update::accelerated() : Update::plain();
}

bool parse_threshold(std::string_view word) {
    static constexpr NameTable<bool, 2> names{{{true, "residual"}, {false, "fixed"}}};
    return parse_name(names, word, "threshold");
}

bool parse_network_structure(std::string_view word) {
    static constexpr NameTable<bool, 2> names{{{false, "problem"}, {true, "dense"}}};
    return parse_name(names, word, "structure of a network");
}

/// "soft", "hard", "relu": every value of a registered list.
template <class Values>
std::string quoted_names(const Values& values) {
    std::string text;
    for (const auto value : values)
        text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", to_string(value));
    return text;
}

/// Reads [model]. `update` stands before its parts, which may then be switched one by one.
struct ModelReader {
    Config& config;
    bool plain = false;
    bool own_neighbours = false;
    bool usual_neighbours = false;

    void read_neighbours(const Value& v);
    /// What follows from all keys together.
    void settle(bool on_grid);
    void switch_part(const Value& v, bool& part, bool on) const {
        if (plain && on)
            v.fail("the plain update has no such part", "set model.update = \"accelerated\"");
        part = on;
    }
    std::vector<ConfigKey> keys();
};

void ModelReader::read_neighbours(const Value& v) {
    own_neighbours = true;
    const bool flag = v.node().is_boolean();
    usual_neighbours = flag && v.flag();
    config.model.neighbours = flag ? 0 : v.whole(0, kMostRings);
}

void ModelReader::settle(bool on_grid) {
    NetworkSpec& spec = config.model;
    if (usual_neighbours || (!own_neighbours && spec.activation == Activation::wiener))
        spec.neighbours = pibinn::usual_neighbours(spec.activation, on_grid);
    if (spec.tied() && spec.update.is_plain()) spec.update.step = true;
    spec.validate();
}

std::vector<ConfigKey> ModelReader::keys() {
    NetworkSpec& spec = config.model;
    return {
        {"layers", "20", "", "K, how many iterations are unrolled",
         [&](const Value& v) { spec.layers = v.whole(1, 10000); }},
        {"activation", "\"soft\"", "", "the threshold of a layer: " + quoted_names(activations()),
         [&](const Value& v) { spec.activation = v.word(parse_activation); }},
        {"weights", "\"one-bit\"", "", "how links are stored: " + quoted_names(weight_kinds()),
         [&](const Value& v) { spec.weights = v.word(parse_weight_kind); }},
        {"delta", "1.0", "", "the paper's delta, the share of x that a layer keeps",
         [&](const Value& v) { spec.delta = v.number(0, 2, true); }},
        {"architecture", "\"unrolled\"", "",
         "\"unrolled\", or \"fcn\", fully connected, which needs update = \"plain\"",
         [&](const Value& v) { spec.architecture = v.word(parse_architecture); }},
        {"structure", "\"problem\"", "",
         "\"problem\": the problem's own links; \"dense\": every link of the whole matrix",
         [&](const Value& v) { config.dense_network = v.word(parse_network_structure); }},
        {"update", "\"accelerated\"", "", "\"accelerated\" (ours), or \"plain\" (the paper's)",
         [&](const Value& v) {
             spec.update = v.word(parse_update);
             plain = spec.update.is_plain();
         }},
        {"threshold", "\"residual\"", "",
         "of the accelerated update: thresholds \"residual\" (scaled by mean|r|) or \"fixed\"",
         [&](const Value& v) {
             switch_part(v, spec.update.residual_threshold, v.word(parse_threshold));
         }},
        {"momentum", "true", "", "of the accelerated update",
         [&](const Value& v) { switch_part(v, spec.update.momentum, v.flag()); }},
        {"onsager", "true", "", "the Onsager term of the accelerated update",
         [&](const Value& v) { switch_part(v, spec.update.onsager, v.flag()); }},
        {"step", "true", "",
         "a step per layer of the accelerated update, which tied weights always have",
         [&](const Value& v) { switch_part(v, spec.update.step, v.flag()); }},
        {"pieces", "4", "", "of activation \"piecewise\": thresholds and gains per layer",
         [&](const Value& v) { spec.pieces = v.whole(1, kMostPieces); }},
        {"groups", "", "\"complex\"",
         "entries shrunk by their common magnitude: \"complex\" (both parts), \"rows\" (those of "
         "all vectors of a row) or \"none\"; by default what the signals are",
         [&](const Value& v) {
             spec.groups = v.word(parse_groups);
             config.own.groups = true;
         }},
        {"neighbours", "false", "",
         "the energy beside an entry counts for it, with one learned factor per layer and ring: "
         "true, or a number of rings; of \"wiener\" true by default",
         [&](const Value& v) { read_neighbours(v); }},
        {"centre", "", "true",
         "residuals less their mean; by default of the accelerated update where columns of the "
         "operator have a mean in common, as zeros and ones do",
         [&](const Value& v) {
             spec.centre = v.flag();
             config.own.centre = true;
         }},
        {"polish", "", "6",
         "conjugate-gradient steps on the support of the last layer, after it, whole groups where "
         "there are groups; 0 for none; by default 6 for learned shrinks that gain 1 dB by them",
         [&](const Value& v) {
             spec.polish = v.whole(0, 1000);
             config.own_polish = true;
         }},
    };
}

std::vector<ConfigKey> first_keys(Config& config) {
    return {{"seed", "1", "", "of everything random",
             [&](const Value& v) { config.seed = v.whole(0); }}};
}

}  // namespace

std::vector<std::string> ProblemConfig::files() const {
    std::vector<std::string> files{operator_file, x_file,        y_file,           real.basis,
                                   real.ids,      real.artefact, real.artefact_ids};
    files.insert(files.end(), block_files.begin(), block_files.end());
    return files;
}

std::vector<std::string> ProblemConfig::inputs() const {
    std::vector<std::string> all = files();
    all.push_back(real.path);
    return all;
}

ProblemTraits traits_of(const ProblemConfig& problem) {
    const bool synthetic = problem.kind == ProblemKind::synthetic;
    const bool arrays = problem.kind == ProblemKind::arrays;
    const bool radio = is_radio(problem.kind);
    ProblemTraits traits;
    if (synthetic)
        traits.invariance =
            problem.spec.prior.support.empty() ? Invariance::shifts : Invariance::signs;
    traits.given_measurements = arrays && !problem.y_file.empty();
    traits.own_signals = arrays;
    traits.drawn = synthetic || radio;
    traits.complex = radio || (arrays && problem.vectors > 1);
    traits.disturbed = problem.spec.snr_db ? true
                       : synthetic || arrays || radio
                           ? problem.spec.noise_std > 0
                           : *problem.real.noise_std > 0 || problem.real.artefact != "none";
    traits.noise_varies =
        problem.spec.snr_db && problem.spec.snr_db->least_db < problem.spec.snr_db->most_db;
    traits.sparse = synthetic || arrays || radio;
    traits.patches = problem.kind == ProblemKind::images;
    if (!synthetic && !radio && !problem.real.basis.empty())
        traits.basis = names_array(problem.real.basis) ? "matrix" : problem.real.basis;
    return traits;
}

Config read_config(const ConfigDocument& document) {
    Config config;
    document.read("", first_keys(config));
    config.problem = read_problem(document);
    ModelReader model{config};
    document.read("model", model.keys());
    model.settle(config.problem.kind == ProblemKind::images);
    return config;
}

void visit_config_keys(const std::function<void(std::string_view, const ConfigKey&)>& visit) {
    Config config;
    ProblemReader problem;
    ModelReader model{config};
    for (const ConfigKey& key : first_keys(config)) visit("", key);
    for (const ConfigKey& key : problem.keys()) visit("problem", key);
    for (const ConfigKey& key : model.keys()) visit("model", key);
}

}  // namespace pibinn::study
