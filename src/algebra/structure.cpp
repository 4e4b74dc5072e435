#include "pibinn/structure.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr NameTable<StructureKind, 4> kStructureNames{{{StructureKind::dense, "dense"},
                                                       {StructureKind::repeated, "repeated"},
                                                       {StructureKind::blocks, "blocks"},
                                                       {StructureKind::mask, "mask"}}};

// Shapes may come from a file that lies; products of sizes up to here cannot overflow.
constexpr std::size_t kMostLinks = std::size_t{1} << 46;

void require_size(std::size_t m, std::size_t n) {
    if (m == 0 || n == 0)
        fail_usage(fmt::format("an operator of {} x {} has no entries", m, n),
                   "give at least one measurement and one signal entry");
    if (n > kMostLinks / m)
        fail_usage(fmt::format("an operator of {} x {} is beyond any memory", m, n),
                   "use structure 'repeated', 'blocks' or 'mask', which hold fewer links");
}

}  // namespace

std::string_view to_string(StructureKind kind) { return name_of(kStructureNames, kind); }

StructureKind parse_structure_kind(std::string_view name) {
    return parse_name(kStructureNames, name, "structure");
}

Structure Structure::dense(std::size_t m, std::size_t n) {
    Structure s = repeated(m, n, 1);
    s.kind_ = StructureKind::dense;
    return s;
}

Structure Structure::repeated(std::size_t m, std::size_t n, std::size_t u) {
    require_size(m, n);
    if (u == 0) fail_usage("a structure repeated 0 times has no links", "set repeat to 1 or more");
    if (u > kMostLinks / std::max(m, n))
        fail_usage(fmt::format("{} repetitions of {} x {} are beyond any memory", u, m, n),
                   "set a smaller repeat");
    Structure s;
    s.kind_ = StructureKind::repeated;
    s.rows_ = m * u;
    s.cols_ = n * u;
    s.links_ = m * n;
    s.repeat_ = u;
    s.blocks_ = {Block{.rows = m, .cols = n}};
    return s;
}

Structure Structure::complex(std::size_t m, std::size_t n, std::size_t u) {
    require_size(m, n);
    Structure s = u == 1 ? dense(2 * m, 2 * n) : repeated(2 * m, 2 * n, u);
    s.complex_ = s.imaginary_ = true;
    return s;
}

Structure Structure::complex_mask(const Structure& pattern, bool imaginary) {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    const std::size_t m = pattern.rows(), n = pattern.cols();
    if (pattern.repeat() != 1 || pattern.is_complex())
        fail_usage(fmt::format("a complex mask on a structure that is {}",
                               pattern.is_complex() ? "complex itself" : "repeated"),
                   "give the places of its entries as blocks or as a mask");
    if (m > most / 2 || n > most / 2 || pattern.links() > most / 4)
        fail_usage(fmt::format("a complex mask of {} x {} with {} links is beyond any memory", m, n,
                               pattern.links()),
                   "give a smaller matrix");
    std::vector<std::uint32_t> offsets{0}, rows;
    const auto add = [&](const Block& b, std::size_t j, std::size_t below) {
        for (std::size_t l = b.column_begin(j); l < b.column_begin(j + 1); ++l) {
            const std::size_t i = b.full() ? l - j * b.rows : b.row_indices[l];
            rows.push_back(static_cast<std::uint32_t>(below + b.row + i));
        }
    };
    for (const bool right : {false, true})
        for (const Block& b : pattern.parts())
            for (std::size_t j = 0; j < b.cols; ++j) {
                if (imaginary || !right) add(b, j, 0);
                if (imaginary || right) add(b, j, m);
                offsets.push_back(static_cast<std::uint32_t>(rows.size()));
            }
    Structure s = mask(2 * m, 2 * n, std::move(offsets), std::move(rows));
    s.complex_ = true;
    s.imaginary_ = imaginary;
    s.complex_pattern_ = std::make_shared<const Structure>(pattern);
    return s;
}

Structure Structure::blocks(std::span<const std::pair<std::size_t, std::size_t>> shapes) {
    if (shapes.empty())
        fail_usage("a structure of 0 blocks has no links", "give at least one block");
    Structure s;
    s.kind_ = StructureKind::blocks;
    for (const auto& [m, n] : shapes) {
        require_size(m, n);
        s.blocks_.push_back(
            {.row = s.rows_, .col = s.cols_, .rows = m, .cols = n, .first_link = s.links_});
        s.rows_ += m;
        s.cols_ += n;
        s.links_ += m * n;
    }
    return s;
}

Structure Structure::mask(std::size_t m, std::size_t n, std::vector<std::uint32_t> offsets,
                          std::vector<std::uint32_t> rows) {
    require_size(m, n);
    if (offsets.size() != n + 1 || offsets.front() != 0 || offsets.back() != rows.size())
        fail_input(fmt::format("the mask's offsets do not describe {} columns and {} links", n,
                               rows.size()),
                   "offsets must have n + 1 entries, from 0 to the number of links");
    // So many links reach no further row: with fewer links than rows, one of the first is left out.
    std::vector<bool> row_seen(std::min(m, rows.size() + 1), false);
    for (std::size_t j = 0; j < n; ++j) {
        if (offsets[j + 1] <= offsets[j])
            fail_input(fmt::format("the mask leaves signal entry (column) {} without links", j),
                       "an entry no measurement sees cannot be recovered; remove the column");
        for (std::size_t l = offsets[j]; l < offsets[j + 1]; ++l) {
            if (l >= rows.size() || rows[l] >= m || (l > offsets[j] && rows[l] <= rows[l - 1]))
                fail_input(
                    fmt::format("the mask's rows of column {} are not ascending below {}", j, m),
                    "list each row once, in ascending order");
            if (rows[l] < row_seen.size()) row_seen[rows[l]] = true;
        }
    }
    for (std::size_t i = 0; i < row_seen.size(); ++i)
        if (!row_seen[i])
            fail_input(fmt::format("the mask leaves measurement (row) {} without links", i),
                       "a measurement that sees no signal entry carries nothing; remove the row");
    Structure s;
    s.kind_ = StructureKind::mask;
    s.rows_ = m;
    s.cols_ = n;
    s.links_ = rows.size();
    s.pattern_ = std::make_shared<const Pattern>(Pattern{std::move(offsets), std::move(rows)});
    s.blocks_ = {Block{
        .rows = m, .cols = n, .offsets = s.pattern_->offsets, .row_indices = s.pattern_->rows}};
    return s;
}

std::span<const std::uint32_t> Structure::offsets() const {
    return pattern_ ? std::span<const std::uint32_t>(pattern_->offsets)
                    : std::span<const std::uint32_t>{};
}

std::span<const std::uint32_t> Structure::row_indices() const {
    return pattern_ ? std::span<const std::uint32_t>(pattern_->rows)
                    : std::span<const std::uint32_t>{};
}

bool Structure::operator==(const Structure& other) const {
    const bool same_pattern =
        pattern_ == other.pattern_ || (pattern_ && other.pattern_ && *pattern_ == *other.pattern_);
    return kind_ == other.kind_ && rows_ == other.rows_ && cols_ == other.cols_ &&
           repeat_ == other.repeat_ && complex_ == other.complex_ &&
           imaginary_ == other.imaginary_ && blocks_ == other.blocks_ && same_pattern;
}

}  // namespace pibinn
