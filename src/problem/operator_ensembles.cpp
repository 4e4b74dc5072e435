#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/random.hpp"

namespace pibinn {

namespace {

constexpr NameTable<OperatorEnsemble, 8> kEnsembleNames{
    {{OperatorEnsemble::gaussian, "gaussian"},
     {OperatorEnsemble::gaussian_unit, "gaussian-unit"},
     {OperatorEnsemble::rademacher, "rademacher"},
     {OperatorEnsemble::hadamard, "hadamard"},
     {OperatorEnsemble::bernoulli, "bernoulli"},
     {OperatorEnsemble::binary_sparse, "binary-sparse"},
     {OperatorEnsemble::dct, "dct"},
     {OperatorEnsemble::fourier, "fourier"}}};

/// The values of all links, which `draw` sets column by column.
template <class Draw>
AlignedBuffer<float> draw_links(const Structure& s, const Draw& draw) {
    AlignedBuffer<float> values(s.links());
    for (const Block& b : s.parts())
        for (std::size_t j = 0; j < b.cols; ++j)
            draw(std::span<float>(values).subspan(b.first_link + b.column_begin(j),
                                                  b.column_begin(j + 1) - b.column_begin(j)));
    return values;
}

/// Each entry is 0 or c. A column of zeros could not be recovered, so it gets one c at a random
/// place: m/2 + 2^-m of them in a column on average, which c makes a squared norm of 1.
void draw_zero_one(Stream& stream, std::span<float> column) {
    const auto m = static_cast<double>(column.size());
    const auto c = static_cast<float>(1 / std::sqrt(m / 2 + std::exp2(-m)));
    for (float& v : column) v = stream.bernoulli(0.5) ? c : 0.0F;
    if (std::all_of(column.begin(), column.end(), [](float v) { return v == 0.0F; }))
        column[stream.below(static_cast<std::uint32_t>(column.size()))] = c;
}

void make_unit(std::span<float> column) {
    double squares = 0;
    for (const float v : column) squares += double{v} * v;
    if (squares == 0) return;
    for (float& v : column) v = static_cast<float>(v / std::sqrt(squares));
}

/// m of the N rows of a transform. Both rows of a frequency of the Fourier transform are taken, as
/// a complex number is measured, until there are m.
std::vector<std::uint32_t> draw_rows(Stream& stream, FormulaKind kind, std::size_t m,
                                     std::size_t all) {
    std::vector<std::uint32_t> rows;
    if (kind == FormulaKind::fourier) {
        for (const std::uint32_t frequency : stream.permutation(all / 2 + 1)) {
            if (frequency > 0) rows.push_back(2 * frequency - 1);
            if (2 * frequency < all) rows.push_back(2 * frequency);
        }
    } else {
        rows = stream.permutation(all);
    }
    rows.resize(m);
    std::sort(rows.begin(), rows.end());
    return rows;
}

Operator draw_transform(const Structure& s, FormulaKind kind, Stream& stream) {
    OperatorFormula formula{kind, {}};
    for (const Block& b : s.parts()) {
        const std::size_t all = transform_rows(kind, b.cols);
        if (b.rows > all)
            fail_usage(fmt::format("a {} operator of {} columns has at most {} rows, not {}",
                                   to_string(kind), b.cols, all, b.rows),
                       "take fewer measurements: each row of the transform is there once");
        BlockFormula f;
        f.rows = draw_rows(stream, kind, b.rows, all);
        const auto m = static_cast<double>(b.rows), n = static_cast<double>(b.cols);
        if (kind == FormulaKind::hadamard) {
            f.flipped.resize(b.cols);
            for (std::size_t j = 0; j < b.cols; ++j) f.flipped[j] = stream.bernoulli(0.5);
            f.scale = static_cast<float>(1 / std::sqrt(m));
        } else {
            f.scale = static_cast<float>(std::sqrt(n / m));
        }
        formula.parts.push_back(std::move(f));
    }
    return Operator::from_formula(s, std::move(formula));
}

void require_drawable(const Structure& s, OperatorEnsemble ensemble) {
    const bool mask = s.kind() == StructureKind::mask;
    if (ensemble == OperatorEnsemble::binary_sparse && !mask)
        fail_usage(fmt::format("a binary-sparse operator is a mask of its ones, not '{}'",
                               to_string(s.kind())),
                   "draw it on a mask, or draw another ensemble");
    if (mask && !drawn_on_masks(ensemble))
        fail_usage(
            fmt::format("a {} operator cannot be drawn on a mask", to_string(ensemble)),
            "use gaussian, gaussian-unit, rademacher or binary-sparse, or another structure");
}

}  // namespace

std::string_view to_string(OperatorEnsemble ensemble) { return name_of(kEnsembleNames, ensemble); }

OperatorEnsemble parse_operator_ensemble(std::string_view name) {
    return parse_name(kEnsembleNames, name, "operator");
}

bool drawn_on_masks(OperatorEnsemble ensemble) {
    return ensemble == OperatorEnsemble::gaussian || ensemble == OperatorEnsemble::gaussian_unit ||
           ensemble == OperatorEnsemble::rademacher || ensemble == OperatorEnsemble::binary_sparse;
}

Operator Operator::random(const Structure& s, OperatorEnsemble ensemble, std::uint64_t seed) {
    require_drawable(s, ensemble);
    Stream stream(seed, Purpose::operator_entries);
    const auto deviation = [](std::span<float> column) {
        return 1.0 / std::sqrt(static_cast<double>(column.size()));
    };
    const auto draw_gaussian = [&](std::span<float> column) {
        for (float& v : column) v = static_cast<float>(deviation(column) * stream.normal());
    };
    switch (ensemble) {
        case OperatorEnsemble::gaussian:
            return {s, draw_links(s, draw_gaussian)};
        case OperatorEnsemble::gaussian_unit:
            return {s, draw_links(s, [&](std::span<float> column) {
                        draw_gaussian(column);
                        make_unit(column);
                    })};
        case OperatorEnsemble::rademacher:
            return {s, draw_links(s, [&](std::span<float> column) {
                        const auto size = static_cast<float>(deviation(column));
                        for (float& v : column) v = stream.bernoulli(0.5) ? size : -size;
                    })};
        case OperatorEnsemble::bernoulli:
            return {s,
                    draw_links(s, [&](std::span<float> column) { draw_zero_one(stream, column); })};
        case OperatorEnsemble::binary_sparse:
            return {s, draw_links(s, [&](std::span<float> column) {
                        std::fill(column.begin(), column.end(),
                                  static_cast<float>(deviation(column)));
                    })};
        case OperatorEnsemble::hadamard:
            return draw_transform(s, FormulaKind::hadamard, stream);
        case OperatorEnsemble::dct:
            return draw_transform(s, FormulaKind::dct, stream);
        case OperatorEnsemble::fourier:
            break;
    }
    return draw_transform(s, FormulaKind::fourier, stream);
}

}  // namespace pibinn
