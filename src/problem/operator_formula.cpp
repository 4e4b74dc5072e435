#include "problem/operator_formula.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "problem/formula_rules.hpp"

namespace pibinn {

#define PIBINN_DECLARE(name) extern const FormulaRules name##_formula;
PIBINN_FORMULAS(PIBINN_DECLARE)
#undef PIBINN_DECLARE

namespace {

// In the order of FormulaKind.
#define PIBINN_ADDRESS(name) &name##_formula,
constexpr std::array kFormulas{PIBINN_FORMULAS(PIBINN_ADDRESS)};
#undef PIBINN_ADDRESS

// Rows a task takes, as in the products by links: it does not depend on the number of threads.
constexpr std::size_t kFormulaRowsPerTask = 128;

[[noreturn]] void fail_formula(FormulaKind kind, std::size_t part, const std::string& why) {
    fail_input(fmt::format("part {} of a formula '{}': {}", part, to_string(kind), why),
               "give a formula that fits the structure");
}

std::string transform_mistake(const FormulaRules& rules, const BlockFormula& f, const Block& b) {
    const std::size_t most = rules.transform_rows(b.cols);
    if (!b.full()) return "a transform has no zeros to leave out";
    if (f.rows.size() != b.rows)
        return fmt::format("it has {} rows, its block {}", f.rows.size(), b.rows);
    for (std::size_t i = 0; i < f.rows.size(); ++i)
        if (f.rows[i] >= most || (i > 0 && f.rows[i] <= f.rows[i - 1]))
            return fmt::format("row {} is {}, not an ascending number below {}", i, f.rows[i],
                               most);
    if (!f.flipped.empty() && f.flipped.size() != b.cols)
        return fmt::format("it has {} signs for {} columns", f.flipped.size(), b.cols);
    if (!std::isfinite(f.scale)) return fmt::format("its scale is {}", f.scale);
    return {};
}

std::string convolution_mistake(const BlockFormula& f, std::size_t rows, std::size_t cols) {
    const auto m = static_cast<std::ptrdiff_t>(rows), n = static_cast<std::ptrdiff_t>(cols);
    const auto count = static_cast<std::ptrdiff_t>(f.taps.size());
    if (count == 0 || f.first <= -n || f.first >= m || count > m - f.first)
        return fmt::format("{} taps from diagonal {} on do not fit {} x {}", count, f.first, m, n);
    for (std::size_t t = 0; t < f.taps.size(); ++t)
        if (!std::isfinite(f.taps[t])) return fmt::format("tap {} is {}", t, f.taps[t]);
    return {};
}

std::size_t length_of_diagonal(std::ptrdiff_t below, std::size_t m, std::size_t n) {
    return below >= 0 ? std::min(m - static_cast<std::size_t>(below), n)
                      : std::min(m, n - static_cast<std::size_t>(-below));
}

/// Drops the taps that are zero at either end.
void trim(BlockFormula& f) {
    const auto zero = [](float tap) { return tap == 0.0F; };
    const auto last = std::find_if_not(f.taps.rbegin(), f.taps.rend(), zero).base();
    f.taps.erase(last, f.taps.end());
    const auto begin = std::find_if_not(f.taps.begin(), f.taps.end(), zero);
    f.first += begin - f.taps.begin();
    f.taps.erase(f.taps.begin(), begin);
}

std::optional<BlockFormula> taps_of_full(const Block& b, const float* values) {
    for (std::size_t j = 1; j < b.cols; ++j)
        if (!std::equal(values + j * b.rows + 1, values + (j + 1) * b.rows,
                        values + (j - 1) * b.rows))
            return std::nullopt;
    BlockFormula f;
    f.first = 1 - static_cast<std::ptrdiff_t>(b.cols);
    for (std::size_t j = b.cols; j-- > 1;) f.taps.push_back(values[j * b.rows]);
    f.taps.insert(f.taps.end(), values, values + b.rows);
    return f;
}

std::optional<BlockFormula> taps_of_mask(const Block& b, const float* values) {
    BlockFormula f;
    f.first = 1 - static_cast<std::ptrdiff_t>(b.cols);
    f.taps.assign(b.rows + b.cols - 1, 0.0F);
    for (std::size_t j = 0; j < b.cols; ++j)
        for (std::size_t l = b.column_begin(j); l < b.column_begin(j + 1); ++l) {
            float& tap = f.taps[b.row_indices[l] + b.cols - 1 - j];
            if (values[l] == 0.0F || (tap != 0.0F && tap != values[l])) return std::nullopt;
            tap = values[l];
        }
    // All links are on diagonals of taps; they are all of these where there are as many.
    if (convolution_links(f, b.rows, b.cols) != static_cast<double>(b.links())) return std::nullopt;
    return f;
}

/// Calls task(product, x row, y row) for every part and every row, with repetitions folded into
/// rows.
template <class X, class Y, class Task>
void for_each_row(const OperatorFormula& formula, const Structure& s, MatrixView<X> x,
                  MatrixView<Y> y, ThreadPool& pool, const Task& task) {
    const FormulaRules& rules = rules_of(formula.kind);
    if (s.repeat() > 1) {
        ensure(x.contiguous() && y.contiguous(), "a repeated product needs batches without gaps");
        x = {x.data, x.rows * s.repeat(), x.cols / s.repeat()};
        y = {y.data, y.rows * s.repeat(), y.cols / s.repeat()};
    }
    pool.run_chunks(x.rows, kFormulaRowsPerTask,
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                        for (std::size_t p = 0; p < formula.parts.size(); ++p) {
                            const Block& b = s.parts()[p];
                            const auto product = rules.product(formula.parts[p], b.rows, b.cols);
                            for (std::size_t r = begin; r < end; ++r)
                                task(*product, x.row(r).subspan(b.col, b.cols),
                                     y.row(r).subspan(b.row, b.rows));
                        }
                    });
}

}  // namespace

std::string_view to_string(FormulaKind kind) { return rules_of(kind).name; }

FormulaKind parse_formula_kind(std::string_view name) {
    NameTable<FormulaKind, kFormulas.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i)
        names[i] = {static_cast<FormulaKind>(i), kFormulas[i]->name};
    return parse_name(names, name, "formula");
}

const FormulaRules& rules_of(FormulaKind kind) {
    return *kFormulas[static_cast<std::size_t>(kind)];
}

std::size_t transform_rows(FormulaKind kind, std::size_t n) {
    const FormulaRules& rules = rules_of(kind);
    return rules.transform_rows ? rules.transform_rows(n) : 0;
}

std::vector<double> quarter_cosines(std::size_t n) {
    std::vector<double> cosines(4 * n);
    for (std::size_t t = 0; t < cosines.size(); ++t)
        cosines[t] =
            std::cos(std::numbers::pi * static_cast<double>(t) / (2 * static_cast<double>(n)));
    return cosines;
}

void require_formula(const OperatorFormula& formula, const Structure& s) {
    const FormulaRules& rules = rules_of(formula.kind);
    if (s.is_complex() && formula.kind == FormulaKind::convolution)
        fail_input(fmt::format("a formula '{}' for a complex operator", rules.name),
                   "taps are real: give the entries of a complex operator");
    if (formula.parts.size() != s.parts().size())
        fail_input(fmt::format("a formula '{}' of {} parts for a structure of {}", rules.name,
                               formula.parts.size(), s.parts().size()),
                   "give one formula for each part of the structure");
    for (std::size_t p = 0; p < formula.parts.size(); ++p) {
        const BlockFormula& f = formula.parts[p];
        const Block& b = s.parts()[p];
        const std::string mistake = rules.transform_rows ? transform_mistake(rules, f, b)
                                                         : convolution_mistake(f, b.rows, b.cols);
        if (!mistake.empty()) fail_formula(formula.kind, p, mistake);
        if (!b.full() && convolution_mask(f, b.rows, b.cols) != s)
            fail_formula(formula.kind, p, "its taps have another pattern than the mask");
    }
}

void require_taps(const BlockFormula& f, std::size_t m, std::size_t n) {
    const std::string mistake = convolution_mistake(f, m, n);
    if (!mistake.empty()) fail_formula(FormulaKind::convolution, 0, mistake);
}

AlignedBuffer<float> formula_values(const OperatorFormula& formula, const Structure& s) {
    const FormulaRules& rules = rules_of(formula.kind);
    AlignedBuffer<float> values(s.links());
    for (std::size_t p = 0; p < formula.parts.size(); ++p) {
        const BlockFormula& f = formula.parts[p];
        const Block& b = s.parts()[p];
        const std::span<float> own(values.data() + b.first_link, b.links());
        if (b.full()) {
            rules.fill(f, b.rows, b.cols, own);
            continue;
        }
        for (std::size_t j = 0; j < b.cols; ++j)
            for (std::size_t l = b.column_begin(j); l < b.column_begin(j + 1); ++l)
                own[l] =
                    f.taps[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(b.row_indices[l]) -
                                                    static_cast<std::ptrdiff_t>(j) - f.first)];
    }
    return values;
}

std::optional<OperatorFormula> find_convolution(const Structure& s, std::span<const float> values) {
    // The block of a complex matrix has constant diagonals by accident alone.
    if (s.is_complex()) return std::nullopt;
    OperatorFormula formula{FormulaKind::convolution, {}};
    std::size_t taps = 0;
    for (const Block& b : s.parts()) {
        const float* const own = values.data() + b.first_link;
        auto f = b.full() ? taps_of_full(b, own) : taps_of_mask(b, own);
        if (!f) return std::nullopt;
        trim(*f);
        if (f->taps.empty()) return std::nullopt;
        taps += f->taps.size();
        formula.parts.push_back(std::move(*f));
    }
    if (taps >= s.links()) return std::nullopt;
    return formula;
}

double convolution_links(const BlockFormula& f, std::size_t m, std::size_t n) {
    double links = 0;
    for (std::size_t t = 0; t < f.taps.size(); ++t)
        if (f.taps[t] != 0.0F)
            links += static_cast<double>(
                length_of_diagonal(f.first + static_cast<std::ptrdiff_t>(t), m, n));
    return links;
}

Structure convolution_mask(const BlockFormula& f, std::size_t m, std::size_t n) {
    const double links = convolution_links(f, m, n);
    if (links > std::numeric_limits<std::uint32_t>::max())
        fail_input(fmt::format("a convolution of {} links", links), "use a smaller operator");
    std::vector<std::uint32_t> offsets{0};
    std::vector<std::uint32_t> rows;
    const auto height = static_cast<std::ptrdiff_t>(m);
    const auto taps = static_cast<std::ptrdiff_t>(f.taps.size());
    for (std::size_t j = 0; j < n; ++j) {
        const std::ptrdiff_t top = static_cast<std::ptrdiff_t>(j) + f.first;
        for (std::ptrdiff_t t = std::max<std::ptrdiff_t>(-top, 0); t < std::min(taps, height - top);
             ++t)
            if (f.taps[static_cast<std::size_t>(t)] != 0.0F)
                rows.push_back(static_cast<std::uint32_t>(top + t));
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    return Structure::mask(m, n, std::move(offsets), std::move(rows));
}

bool formula_is_faster(const OperatorFormula& formula, const Structure& s) {
    const FormulaRules& rules = rules_of(formula.kind);
    for (std::size_t p = 0; p < formula.parts.size(); ++p)
        if (const Block& b = s.parts()[p];
            b.full() && !rules.faster(formula.parts[p], b.rows, b.cols))
            return false;
    return true;
}

void apply_formula(const OperatorFormula& formula, const Structure& s, MatrixView<const float> x,
                   MatrixView<float> y, ThreadPool& pool) {
    for_each_row(formula, s, x, y, pool,
                 [](FormulaProduct& product, std::span<const float> in, std::span<float> out) {
                     product.apply(in, out);
                 });
}

void adjoint_formula(const OperatorFormula& formula, const Structure& s, MatrixView<const float> y,
                     MatrixView<float> x, ThreadPool& pool) {
    for_each_row(formula, s, x, y, pool,
                 [](FormulaProduct& product, std::span<float> out, std::span<const float> in) {
                     product.adjoint(in, out);
                 });
}

}  // namespace pibinn
