#include "study/problem_kind.hpp"

#include "core/names.hpp"

namespace pibinn::study {

namespace {

constexpr NameTable<ProblemKind, 7> kKindNames{{{ProblemKind::synthetic, "synthetic"},
                                                {ProblemKind::arrays, "arrays"},
                                                {ProblemKind::images, "images"},
                                                {ProblemKind::signals, "signals"},
                                                {ProblemKind::beamspace, "beamspace"},
                                                {ProblemKind::access, "access"},
                                                {ProblemKind::fourier, "fourier"}}};

}  // namespace

std::string_view to_string(ProblemKind kind) { return name_of(kKindNames, kind); }

ProblemKind parse_problem_kind(std::string_view name) {
    return parse_name(kKindNames, name, "kind of problem");
}

bool is_radio(ProblemKind kind) {
    return kind == ProblemKind::beamspace || kind == ProblemKind::access ||
           kind == ProblemKind::fourier;
}

std::string KeyKinds::text() const {
    std::string kinds;
    for (const ProblemKind kind : kProblemKinds)
        if (contains(kind)) kinds += (kinds.empty() ? "" : " or ") + std::string(to_string(kind));
    return kinds;
}

}  // namespace pibinn::study
