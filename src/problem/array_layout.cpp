#include "problem/array_layout.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// Some values of an operator on another structure, in the precision that it was made of.
template <class Pick>
Operator picked(const Operator& op, const Structure& structure, Pick&& pick) {
    if (op.precise()) return Operator::from_values(structure, pick(op.precise_values()));
    return {structure, pick(op.values())};
}

template <class T>
AlignedBuffer<std::remove_const_t<T>> copied(std::span<T> values) {
    return {values.begin(), values.end()};
}

/// Whether all links stand in one full block.
bool one_full_block(const Structure& s) {
    return s.kind() == StructureKind::dense || s.kind() == StructureKind::repeated;
}

/// A real operator of blocks or a mask on both parts of complex vectors.
Operator on_both_parts(const Operator& op) {
    const Structure s = Structure::complex_mask(op.structure(), false);
    return picked(op, s, [&]<class T>(std::span<T> values) {
        AlignedBuffer<std::remove_const_t<T>> twice = copied(values);
        twice.insert(twice.end(), values.begin(), values.end());
        return twice;
    });
}

/// The block of an operator `u` times.
Operator repeat_block(const Operator& op, std::size_t u) {
    if (!one_full_block(op.structure())) return u == 2 ? on_both_parts(op) : op;
    const Block& b = op.structure().parts()[0];
    const Structure wide = op.structure().is_complex()
                               ? Structure::complex(b.rows / 2, b.cols / 2, u)
                           : u == 1 ? Structure::dense(b.rows, b.cols)
                                    : Structure::repeated(b.rows, b.cols, u);
    if (op.formula() && !op.precise()) return Operator::from_formula(wide, *op.formula());
    return picked(op, wide, [](auto values) { return copied(values); });
}

/// The real part of a complex operator above its imaginary part: the left half of its columns.
Operator stack_parts(const Operator& op) {
    const Block& b = op.structure().parts()[0];
    const std::size_t half = op.structure().shared_links();
    Structure left = Structure::dense(b.rows, b.cols / 2);
    if (!b.full()) {
        const auto columns = b.offsets.first(b.cols / 2 + 1);
        const auto rows = b.row_indices.first(half);
        left = Structure::mask(b.rows, b.cols / 2, {columns.begin(), columns.end()},
                               {rows.begin(), rows.end()});
    }
    return picked(op, left, [&](auto values) { return copied(values.first(half)); });
}

Operator real_part(const Operator& op) {
    const Structure& s = op.structure();
    const Block& b = s.parts()[0];
    const Structure places =
        s.complex_pattern() ? *s.complex_pattern() : Structure::dense(b.rows / 2, b.cols / 2);
    return picked(op, places, [&]<class T>(std::span<T> values) {
        AlignedBuffer<std::remove_const_t<T>> re;
        for_each_pair(s, [&](std::size_t first, std::size_t, float sign) {
            if (sign > 0) re.push_back(values[first]);
        });
        return re;
    });
}

bool has_imaginary_part(const Operator& op) {
    bool found = false;
    for_each_pair(op.structure(), [&](std::size_t first, std::size_t, float sign) {
        found = found || (sign < 0 && op.values()[first] != 0);  // stands as -Im, too
    });
    return found;
}

std::string_view word(bool complex) { return complex ? "complex" : "real"; }

void require_full_block(const Structure& s, std::string_view what) {
    if (!one_full_block(s))
        fail_usage(fmt::format("an operator of structure '{}' and {}", to_string(s.kind()), what),
                   "give every entry of it as a link: Operator::from_dense");
}

void require_one_block(const ArrayProblem& arrays) {
    const Structure& s = arrays.op.structure();
    const bool complex = arrays.x.complex() || s.is_complex();
    const std::string what = complex ? "complex signals" : "several vectors per row";
    if (arrays.vectors > 1) require_full_block(s, "several vectors per row");
    if (s.repeat() > 1 && s.repeat() != arrays.vectors)
        fail_usage(fmt::format("an operator that is repeated {} times, and {}", s.repeat(), what),
                   fmt::format("give each repetition as a row of its own, or set "
                               "ArrayProblem::vectors = {} where they share their support",
                               s.repeat()));
}

/// Rows of `vectors` vectors of so many entries.
void require_entries(const UserArray& rows, std::size_t each, const ArrayProblem& arrays,
                     const char* noun, const std::string& name) {
    if (rows.rows() == 0)
        fail_input(fmt::format("'{}' holds no {}: it has 0 rows", name, noun),
                   "give at least one row");
    const std::size_t expected = each * arrays.vectors;
    if (rows.entries() == expected) return;
    const std::string of_vectors =
        arrays.vectors > 1 ? fmt::format(", {} for each of {} vectors", each, arrays.vectors) : "";
    fail_input(fmt::format("expected {} {} {} per row{}, got {} ('{}' is {} x {})", expected,
                           word(rows.complex()), noun, of_vectors, rows.entries(), name,
                           rows.rows(), rows.entries()),
               arrays.vectors > 1 && rows.entries() % arrays.vectors != 0
                   ? "all vectors of a row have one length: choose another ArrayProblem::vectors"
               : rows.rows() == expected
                   ? "the array looks transposed: save array.T, one signal per row"
                   : "every row must fit the operator");
}

}  // namespace

bool needs_layout(const ArrayProblem& arrays) {
    return arrays.vectors != 1 || arrays.x.complex() || arrays.y.complex() ||
           arrays.op.structure().is_complex();
}

LaidOutArrays lay_out(const ArrayProblem& given) {
    if (given.vectors == 0)
        fail_usage("ArrayProblem::vectors is 0",
                   "give the vectors per row: 1 unless there are more");
    require_one_block(given);
    LaidOutArrays result{given, {}, {}};
    ArrayProblem& arrays = result.arrays;
    const bool imaginary = has_imaginary_part(given.op);
    if (given.op.structure().is_complex() && !imaginary) {
        arrays.op = real_part(given.op);
        result.notes.push_back("the imaginary part of the operator is zero: it is taken as real");
    }
    const bool complex = given.x.complex();
    const bool complex_y = complex || imaginary;
    const std::size_t parts = imaginary ? 2 : 1;
    const std::size_t m = arrays.op.rows() / arrays.op.structure().repeat() / parts;
    const std::size_t n = arrays.op.cols() / arrays.op.structure().repeat() / parts;
    require_entries(given.x, n, given, "signal entries", given.x_name);
    if (given.y.size() > 0) {
        if (given.y.complex() != complex_y)
            fail_input(fmt::format("'{}' holds {} numbers, but measurements of {} signals by a {} "
                                   "operator are {}",
                                   given.y_name, word(given.y.complex()), word(complex),
                                   word(imaginary), word(complex_y)),
                       complex_y ? "give complex measurements: an imaginary part of zero will do"
                                 : "give the real part, or complex signals where they are complex");
        require_entries(given.y, m, given, "measurements", given.y_name);
    }
    if (imaginary && !complex) {
        arrays.op = stack_parts(arrays.op);
        result.domain.complex_measurements = true;
        result.notes.push_back(kRealSignalsNote);
    }
    if (!imaginary && complex && !given.op.structure().is_complex())
        result.notes.push_back(kRealOperatorNote);
    arrays.op = repeat_block(arrays.op, given.vectors * (complex && !imaginary ? 2 : 1));
    arrays.x = given.x.split(given.vectors);
    arrays.y = given.y.split(given.vectors);
    arrays.vectors = 1;
    result.domain.complex = complex;
    result.domain.vectors = given.vectors;
    return result;
}

Operator on_complex_vectors(const Operator& op) {
    return op.structure().is_complex() ? op : repeat_block(op, 2 * op.structure().repeat());
}

Operator on_real_vectors(const Operator& op) {
    return repeat_block(stack_parts(op), op.structure().repeat());
}

}  // namespace pibinn
