#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/structure_finder.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

using nb::literals::operator""_a;

template <class T>
AlignedBuffer<T> buffer_of(const Line<T>& line) {
    return {line.data(), line.data() + line.shape(0)};
}

Operator from_sparse(std::size_t m, std::size_t n, const Line<std::uint32_t>& offsets,
                     const Line<std::uint32_t>& rows, const Line<double>& values) {
    std::vector<SparseEntry> entries;
    entries.reserve(values.shape(0));
    for (std::size_t j = 0; j < n; ++j)
        for (std::uint32_t l = offsets(j); l < offsets(j + 1); ++l)
            entries.push_back({rows(l), static_cast<std::uint32_t>(j), values(l)});
    return Operator::from_sparse(
        SparseMatrix::from_entries(m, n, std::move(entries), "the sparse matrix"));
}

Operator from_formula(const Structure& structure, const std::string& kind,
                      const std::vector<nb::dict>& parts) {
    OperatorFormula formula{parse_formula_kind(kind), {}};
    for (const nb::dict& part : parts) {
        BlockFormula block;
        block.rows = nb::cast<std::vector<std::uint32_t>>(part["rows"]);
        block.flipped = nb::cast<std::vector<bool>>(part["flipped"]);
        block.scale = nb::cast<float>(part["scale"]);
        block.taps = nb::cast<std::vector<float>>(part["taps"]);
        block.first = nb::cast<std::ptrdiff_t>(part["first"]);
        formula.parts.push_back(std::move(block));
    }
    return Operator::from_formula(structure, std::move(formula));
}

nb::object formula_of(const Operator& op) {
    if (op.formula() == nullptr) return nb::none();
    nb::list parts;
    for (const BlockFormula& block : op.formula()->parts) {
        nb::dict part;
        part["rows"] = nb::cast(block.rows);
        part["flipped"] = nb::cast(block.flipped);
        part["scale"] = block.scale;
        part["taps"] = nb::cast(block.taps);
        part["first"] = block.first;
        parts.append(part);
    }
    nb::dict formula;
    formula["kind"] = std::string(to_string(op.formula()->kind));
    formula["parts"] = parts;
    return formula;
}

/// What Structure's constructors take, so that another process can make it again.
nb::dict state_of(const Structure& s) {
    nb::dict state;
    state["kind"] = std::string(to_string(s.kind()));
    state["complex"] = s.is_complex();
    state["rows"] = s.rows();
    state["cols"] = s.cols();
    state["repeat"] = s.repeat();
    std::vector<std::pair<std::size_t, std::size_t>> shapes;
    for (const Block& block : s.parts()) shapes.emplace_back(block.rows, block.cols);
    state["blocks"] = nb::cast(shapes);
    state["imaginary"] = s.has_imaginary();
    if (s.complex_pattern()) state["pattern"] = state_of(*s.complex_pattern());
    state["offsets"] = line_to_numpy<std::uint32_t>(s.offsets());
    state["row_indices"] = line_to_numpy<std::uint32_t>(s.row_indices());
    return state;
}

nb::dict finding_of(const Rows<float>& a) {
    const StructureFinding found = [&] {
        const nb::gil_scoped_release release;
        return find_structure(view_of(a));
    }();
    nb::list fits;
    for (const StructureFit& fit : found.fits) {
        nb::dict entry;
        entry["kind"] = std::string(to_string(fit.structure.kind()));
        entry["links"] = fit.structure.links();
        entry["repeat"] = fit.structure.repeat();
        entry["blocks"] = fit.structure.parts().size() * fit.structure.repeat();
        entry["reordered"] = fit.reordered;
        fits.append(entry);
    }
    nb::dict result;
    result["fits"] = fits;
    result["density"] = found.density();
    result["rows"] = line_to_numpy<std::uint32_t>(found.rows);
    result["cols"] = line_to_numpy<std::uint32_t>(found.cols);
    return result;
}

void bind_structure(nb::module_& core) {
    nb::class_<Structure>(core, "Structure", "Which links of an m x n matrix exist.")
        .def_static("dense", &Structure::dense, "m"_a, "n"_a)
        .def_static("repeated", &Structure::repeated, "m"_a, "n"_a, "u"_a)
        .def_static(
            "blocks",
            [](const std::vector<std::pair<std::size_t, std::size_t>>& shapes) {
                return Structure::blocks(shapes);
            },
            "shapes"_a)
        .def_static(
            "mask",
            [](std::size_t m, std::size_t n, const Line<std::uint32_t>& offsets,
               const Line<std::uint32_t>& rows) {
                return Structure::mask(m, n, list_of(offsets), list_of(rows));
            },
            "m"_a, "n"_a, "offsets"_a, "rows"_a)
        .def_static("complex", &Structure::complex, "m"_a, "n"_a, "u"_a = 1)
        .def_static("complex_mask", &Structure::complex_mask, "pattern"_a, "imaginary"_a = true)
        .def_prop_ro("kind", [](const Structure& s) { return std::string(to_string(s.kind())); })
        .def_prop_ro("is_complex", &Structure::is_complex)
        .def_prop_ro("rows", &Structure::rows)
        .def_prop_ro("cols", &Structure::cols)
        .def_prop_ro("links", &Structure::links)
        .def_prop_ro("shared_links", &Structure::shared_links)
        .def_prop_ro("repeat", &Structure::repeat)
        .def("state", &state_of, "What the constructors take.");
}

}  // namespace

void bind_operators(nb::module_& core) {
    bind_structure(core);
    nb::class_<Operator>(core, "Operator", "A structure and the value of every link.")
        .def_static(
            "from_dense", [](const Rows<float>& a) { return Operator::from_dense(view_of(a)); },
            "a"_a.noconvert())
        .def_static(
            "from_dense", [](const Rows<double>& a) { return Operator::from_dense(view_of(a)); },
            "a"_a.noconvert())
        .def_static(
            "from_complex",
            [](const AnyRows& a, std::size_t repeat) {
                return Operator::from_complex(user_array(a, "the operator"), repeat);
            },
            "a"_a, "repeat"_a = 1)
        .def_static(
            "from_complex_links",
            [](const Structure& pattern, const Line<double>& re, const Line<double>& im) {
                return Operator::from_complex(pattern, std::span(re.data(), re.shape(0)),
                                              std::span(im.data(), im.shape(0)));
            },
            "pattern"_a, "re"_a, "im"_a)
        .def_static("from_sparse", &from_sparse, "m"_a, "n"_a, "offsets"_a, "rows"_a, "values"_a)
        .def_static(
            "from_values",
            [](const Structure& structure, const Line<float>& values) {
                return Operator(structure, buffer_of(values));
            },
            "structure"_a, "values"_a.noconvert())
        .def_static(
            "from_values",
            [](const Structure& structure, const Line<double>& values) {
                return Operator::from_values(structure, buffer_of(values));
            },
            "structure"_a, "values"_a.noconvert())
        .def_static("from_formula", &from_formula, "structure"_a, "kind"_a, "parts"_a)
        .def_static(
            "random",
            [](const Structure& structure, const std::string& ensemble, std::uint64_t seed) {
                return Operator::random(structure, parse_operator_ensemble(ensemble), seed);
            },
            "structure"_a, "ensemble"_a, "seed"_a)
        .def_static("convolution", &Operator::convolution, "m"_a, "n"_a, "taps"_a, "first"_a)
        .def_prop_ro("structure", &Operator::structure, nb::rv_policy::copy)
        .def_prop_ro("rows", &Operator::rows)
        .def_prop_ro("cols", &Operator::cols)
        .def_prop_ro("values", [](const Operator& op) { return line_to_numpy<float>(op.values()); })
        .def_prop_ro("precise_values",
                     [](const Operator& op) { return line_to_numpy<double>(op.precise_values()); })
        .def_prop_ro("precise", &Operator::precise)
        .def_prop_ro("formula", &formula_of)
        .def_prop_ro("is_sign", &Operator::is_sign)
        .def_prop_ro("is_zero_one", &Operator::is_zero_one)
        .def("squared_norm", &Operator::squared_norm, nb::call_guard<nb::gil_scoped_release>())
        .def("to_dense", [](const Operator& op) { return to_numpy(op.to_dense()); })
        .def(
            "apply",
            [](const Operator& op, const Rows<float>& x, std::size_t threads) {
                Batch y;
                {
                    const nb::gil_scoped_release release;
                    y = op.apply(view_of(x), shared_pool(threads));
                }
                return to_numpy(std::move(y));
            },
            "x"_a, "threads"_a = 0)
        .def(
            "adjoint",
            [](const Operator& op, const Rows<float>& y, std::size_t threads) {
                Batch x;
                {
                    const nb::gil_scoped_release release;
                    x = op.adjoint(view_of(y), shared_pool(threads));
                }
                return to_numpy(std::move(x));
            },
            "y"_a, "threads"_a = 0);
    core.def("find_structure", &finding_of, "a"_a,
             "Every structure that holds the non-zero entries of a matrix.");
    core.def("transform_rows", [](const std::string& kind, std::size_t n) {
        return transform_rows(parse_formula_kind(kind), n);
    });
}

}  // namespace pibinn::python
