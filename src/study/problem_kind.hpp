#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace pibinn::study {

enum class ProblemKind { synthetic, arrays, images, signals, beamspace, access, fourier };

inline constexpr std::array kProblemKinds{
    ProblemKind::synthetic, ProblemKind::arrays, ProblemKind::images, ProblemKind::signals,
    ProblemKind::beamspace, ProblemKind::access, ProblemKind::fourier};

std::string_view to_string(ProblemKind kind);
ProblemKind parse_problem_kind(std::string_view name);
/// Channels, active users and spectra: complex signals that are drawn.
bool is_radio(ProblemKind kind);

/// The kinds of problem that look at a key; all of them unless some are named.
class KeyKinds {
public:
    constexpr KeyKinds() = default;
    constexpr KeyKinds(std::initializer_list<ProblemKind> kinds) : bits_(0) {
        for (const ProblemKind kind : kinds) bits_ |= bit(kind);
    }

    constexpr bool contains(ProblemKind kind) const { return (bits_ & bit(kind)) != 0; }
    constexpr bool all() const { return *this == KeyKinds(); }
    /// "arrays or images"
    std::string text() const;

    constexpr bool operator==(const KeyKinds&) const = default;

private:
    static constexpr unsigned bit(ProblemKind kind) { return 1U << static_cast<unsigned>(kind); }

    unsigned bits_ = (1U << kProblemKinds.size()) - 1;
};

/// The kinds that any operator may measure.
inline constexpr KeyKinds kOperatorKinds{ProblemKind::synthetic, ProblemKind::arrays,
                                         ProblemKind::images, ProblemKind::signals};

}  // namespace pibinn::study
