#include "study/real_source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/patches.hpp"
#include "pibinn/real_problem.hpp"
#include "pibinn/segments.hpp"
#include "study/operator_source.hpp"

namespace pibinn::study {

namespace {

SensingSpec sensing_of(const ProblemConfig& problem) {
    SensingSpec sensing;
    sensing.m = problem.real.m.value_or(0);
    sensing.ratio = problem.real.ratio;
    sensing.structure = problem.spec.structure;
    sensing.blocks = problem.spec.repeat;
    sensing.ensemble = problem.spec.ensemble;
    sensing.ones_per_column = problem.spec.ones_per_column;
    // A matrix of one's own looks at pixels and samples; a random one may as well look at
    // coefficients, and keeps its structure and its single bits there.
    sensing.on_signals = problem.real.on_signals.value_or(!problem.operator_file.empty());
    if (!problem.operator_file.empty()) sensing.given = load_real_operator(problem);
    return sensing;
}

std::string sensing_text(const ProblemConfig& problem, const Problem& made) {
    return fmt::format(
        "{} of {} numbers per signal measured by {} on {}, basis {}, normalisation {}",
        made.op.rows(), made.op.cols(),
        problem.operator_file.empty()
            ? fmt::format("a {} {} operator", to_string(problem.spec.structure),
                          to_string(problem.spec.ensemble))
            : fmt::format("the operator {}", problem.operator_file),
        sensing_of(problem).on_signals ? "the signals" : "the coefficients", problem.real.basis,
        to_string(*problem.real.normalize));
}

/// What patches and segments have in common. `Sets` holds the signals of both sides.
template <class Sets>
RealSignals signals_of(Sets& sets, const ProblemConfig& problem, std::string where) {
    const RealConfig& real = problem.real;
    RealSignals signals;
    signals.snr_db = problem.spec.snr_db;
    signals.train = std::move(sets.train);
    signals.test = std::move(sets.test);
    signals.noise_std = *real.noise_std;
    signals.noise_place = real.noise_place;
    signals.where = std::move(where);
    return signals;
}

std::string noise_text(const ProblemConfig& problem) {
    const RealConfig& real = problem.real;
    if (problem.spec.snr_db)
        return fmt::format("noise at {} on the measurements", decibels(*problem.spec.snr_db));
    if (*real.noise_std == 0) return "no noise";
    return fmt::format("noise of deviation {} on the {}{}", *real.noise_std,
                       to_string(real.noise_place),
                       real.noise_place == NoisePlace::normalised ? " signals" : "");
}

std::string skipped_note(const std::vector<std::string>& skipped, const std::string& folder) {
    std::string note = fmt::format("skipped {} file(s) of '{}':", skipped.size(), folder);
    for (const std::string& file : skipped) note += "\n  " + file;
    return note;
}

}  // namespace

Basis load_basis(const RealConfig& real, std::size_t n) {
    if (!names_array(real.basis)) return Basis::named(parse_basis_kind(real.basis), n);
    Basis basis = Basis::from_matrix(read_array(real.basis), real.basis);
    if (basis.matrix().rows() != n)
        fail_input(fmt::format("basis '{}' is for signals of {} entries, but these have {}",
                               real.basis, basis.matrix().rows(), n),
                   fmt::format("give a matrix of {} x {}", n, n));
    return basis;
}

Problem load_images(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    const RealConfig& real = source.real;
    PatchSpec spec;
    spec.folder = real.path;
    spec.side = real.patch;
    spec.per_image = real.patches;
    spec.train = source.train_rows;
    spec.test = source.test_rows;
    spec.split_by_image = real.split_apart.value_or(true);
    PatchSet set = draw_patches(spec, config.seed);

    SignalDomain domain;
    domain.basis = load_basis(real, spec.side * spec.side);
    domain.patch = spec.side;
    domain.normalize = *real.normalize;
    const RealSignals signals = signals_of(set, source, real.path);
    Problem problem = make_real(signals, std::move(domain), sensing_of(source), config.seed, pool);
    problem.protocol = fmt::format(
        "{} random {} x {} patches of {} pictures to train on, {} of {} to test, {}; {}; {}",
        problem.train.x.rows(), spec.side, spec.side, set.train_images, problem.test.x.rows(),
        set.test_images,
        spec.split_by_image ? "no picture on both sides" : "the same pictures on both sides",
        noise_text(source), sensing_text(source, problem));
    if (!set.skipped.empty()) problem.notes.push_back(skipped_note(set.skipped, real.path));
    return problem;
}

Problem load_signals(const Config& config, ThreadPool& pool) {
    const ProblemConfig& source = config.problem;
    const RealConfig& real = source.real;
    SegmentSpec spec;
    spec.clean = source.x_file;
    spec.clean_ids = real.ids;
    spec.artefact = real.artefact;
    spec.artefact_ids = real.artefact_ids;
    spec.train = source.train_rows;
    spec.test = source.test_rows;
    spec.folder = real.path;
    find_segments(spec);
    spec.split_by_recording = real.split_apart.value_or(!spec.clean_ids.empty());
    SegmentSet set = read_segments(spec, config.seed);

    RealSignals signals = signals_of(set, source, spec.clean);
    signals.train_artefacts = std::move(set.train_artefacts);
    signals.test_artefacts = std::move(set.test_artefacts);
    const SnrRange artefact_db = real.snr_db.value_or(SnrRange{20, 20});
    signals.least_snr_db = artefact_db.least_db;
    signals.most_snr_db = artefact_db.most_db;
    SignalDomain domain;
    domain.basis = load_basis(real, signals.train.cols());
    domain.normalize = *real.normalize;
    Problem problem = make_real(signals, std::move(domain), sensing_of(source), config.seed, pool);
    const std::string apart =
        spec.split_by_recording
            ? fmt::format("{} recordings against {}", set.train_recordings, set.test_recordings)
            : "rows at random";
    problem.protocol = fmt::format(
        "{} segments of {} samples to train on, {} to test, {}; {}; {}; {}", problem.train.x.rows(),
        signals.train.cols(), problem.test.x.rows(), apart,
        spec.artefact.empty()
            ? "no artefact"
            : fmt::format("artefacts of {} at {}", spec.artefact, decibels(artefact_db)),
        noise_text(source), sensing_text(source, problem));
    return problem;
}

std::string decibels(const SnrRange& range) {
    return range.least_db == range.most_db
               ? fmt::format("{} dB", range.least_db)
               : fmt::format("{} to {} dB", range.least_db, range.most_db);
}

std::string short_notes(const Problem& problem) {
    constexpr std::ptrdiff_t most = 5;
    std::string text;
    for (const std::string& note : problem.notes) {
        std::ptrdiff_t lines = 0;
        const std::ptrdiff_t all = std::count(note.begin(), note.end(), '\n');
        if (!text.empty()) text += "; ";
        for (const char c : note) {
            if (c == '\n' && ++lines > most) break;
            if (c != '\n')
                text += c;
            else if (lines > 1)
                text += ',';
        }
        if (all > most) text += fmt::format(", and {} more", all - most);
    }
    // Lists are indented by two in the note itself.
    for (std::size_t at = 0; (at = text.find("  ", at)) != std::string::npos;) text.erase(at, 1);
    return text;
}

double link_density(const Structure& structure) {
    return static_cast<double>(structure.links()) /
           (static_cast<double>(structure.rows()) * static_cast<double>(structure.cols()));
}

}  // namespace pibinn::study
