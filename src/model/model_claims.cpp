#include "model/model_claims.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "data/claims.hpp"
#include "model/model_tensors.hpp"

namespace pibinn {

namespace {

/// Rows that the network takes at a time, among which repetitions count as rows.
constexpr double kRowsAtATime = 64;

/// Multiplications and additions of one row that any file may ask for, in some seconds.
constexpr double kFreeWork = 4294967296.0;

/// Bytes of working memory of the floating-point network for one row, repetitions folded into rows
/// of their own. Measured: 27 numbers per measurement and entry of a mask, 13 of a full block.
double workspace_of(const NetworkSpec& spec, const Structure& s) {
    constexpr double numbers = 32;
    constexpr double block = 4096;  // three layers, none of them of fewer than 16 numbers
    const auto repeat = static_cast<double>(s.repeat());
    const double together = spec.groups == Groups::rows ? repeat : std::min(repeat, kRowsAtATime);
    const auto sides = static_cast<double>(s.rows()) + static_cast<double>(s.cols());
    return numbers * sizeof(float) * sides / repeat * together +
           block * static_cast<double>(s.parts().size());
}

/// Polish copies the columns of a support, which are at most as many as the measurements.
double polish_of(const NetworkSpec& spec, const Structure& s) {
    double numbers = 0;
    for (const Block& b : s.parts())
        numbers += static_cast<double>(b.rows) * static_cast<double>(std::min(b.rows, b.cols));
    return spec.polish > 0 ? sizeof(float) * numbers : 0;
}

void check_work(const std::string& where, const NetworkSpec& spec, const Structure& s, double links,
                std::uint64_t file_bytes) {
    const auto times = static_cast<double>(spec.layers) + static_cast<double>(spec.polish);
    const auto rings = 2 * static_cast<double>(spec.neighbours);
    const double work = times * (links * static_cast<double>(s.repeat()) +
                                 (1 + rings) * static_cast<double>(s.cols()));
    const double most = std::max(kFreeWork, claim_factor::work * static_cast<double>(file_bytes));
    if (work > most)
        fail_input(fmt::format("{}: recovering a row by {} layers and {} steps of polish of {} "
                               "links would take {:.3g} multiplications; a file of {} bytes may "
                               "take {:.3g}",
                               where, spec.layers, spec.polish, links, work, file_bytes, most),
                   "use fewer layers, or a smaller operator");
}

}  // namespace

void check_row_claim(const std::string& where, std::size_t m, std::size_t n, std::size_t repeat,
                     std::uint64_t file_bytes) {
    constexpr double copies = 4;  // read, recovered, transformed and written
    require_claim(
        copies * sizeof(float) * (static_cast<double>(m) + static_cast<double>(n)),
        claim_factor::rows, file_bytes,
        fmt::format("{}: recovering a row of {} entries from {} measurements", where, n, m),
        repeat > 1
            ? fmt::format("{} repetitions are too many: recover them as rows of their own", repeat)
            : kDamagedModel);
}

void check_claims(const std::string& where, const NetworkSpec& spec, const Structure& s,
                  bool by_formula, std::uint64_t file_bytes) {
    const auto m = static_cast<double>(s.rows()), n = static_cast<double>(s.cols());
    const auto layers = static_cast<double>(spec.layers);
    const bool unrolled = spec.architecture == Architecture::unrolled;
    const auto operator_links = static_cast<double>(s.links());
    const double stored_entries = by_formula ? 0 : operator_links;
    const double links = spec.tied() ? stored_entries
                         : unrolled  ? layers * operator_links
                                     : m * n + (layers - 1) * n * n;
    // Half of the links of a complex structure are in the file, and follow from these in memory.
    const double in_file = unrolled && s.is_complex() ? links / 2 : links;
    if (in_file > 8.0 * static_cast<double>(file_bytes))
        fail_input(fmt::format("{}: {} layers of together {} links do not fit a file of {} bytes",
                               where, spec.layers, in_file, file_bytes),
                   kDamagedModel);
    const auto blocks = static_cast<double>(s.parts().size());
    constexpr double packed_block = 256;  // of one layer, whose signs fill whole vectors
    require_claim(
        sizeof(float) * (links + stored_entries) + packed_block * blocks * (1 + layers),
        claim_factor::models, file_bytes,
        fmt::format("{}: {} layers of {} links in {} block(s)", where, spec.layers, links, blocks),
        "use larger blocks, or fewer layers");
    check_row_claim(where, s.rows(), s.cols(), s.repeat(), file_bytes);
    if (!unrolled) return;

    const double recovery = workspace_of(spec, s) + polish_of(spec, s);
    // Of the model, of two networks, and laid out in both orders; a mask's places stand beside.
    const double operator_copies = s.kind() == StructureKind::mask ? 8 : 5;
    if (by_formula)
        require_formula_claim(
            operator_copies * sizeof(float) * operator_links + recovery, file_bytes,
            fmt::format("{}: an operator of {} entries that a formula makes, and a row of {}",
                        where, operator_links, n));
    else
        require_claim(recovery, claim_factor::rows, file_bytes,
                      fmt::format("{}: the network for a row of {} entries from {} measurements",
                                  where, n, m),
                      spec.polish > 0 ? "use a smaller operator, or no polish" : kDamagedModel);
    check_work(where, spec, s, operator_links, file_bytes);
}

}  // namespace pibinn
