#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/user_array.hpp"

namespace pibinn::python {

namespace nb = nanobind;

/// Rows of numbers in someone's memory, which is read where it is. The Python side hands over
/// nothing else.
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// The same of any type of numbers.
using AnyRows = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Line = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
MatrixView<const T> view_of(const Rows<T>& rows) {
    return {rows.data(), rows.shape(0), rows.shape(1)};
}

template <class T>
Matrix<T> copy_of(const Rows<T>& rows) {
    Matrix<T> own(rows.shape(0), rows.shape(1));
    std::copy_n(rows.data(), own.size(), own.data());
    return own;
}

template <class T>
std::vector<T> list_of(const Line<T>& line) {
    return {line.data(), line.data() + line.shape(0)};
}

/// float32, float64, complex64 or complex128, copied: problems own their numbers. Values that are
/// not finite, or that float32 cannot hold, are an input error that calls the array `name`.
UserArray user_array(const AnyRows& rows, std::string_view name);

/// Memory of ours as an array of NumPy's, without a copy.
template <class T>
nb::object to_numpy(Matrix<T> matrix) {
    auto* own = new Matrix<T>(std::move(matrix));
    nb::capsule owner(own, [](void* p) noexcept { delete static_cast<Matrix<T>*>(p); });
    return nb::cast(
        nb::ndarray<nb::numpy, T, nb::ndim<2>>(own->data(), {own->rows(), own->cols()}, owner));
}

/// A copy of a few numbers.
template <class T, class Values>
nb::object line_to_numpy(const Values& values) {
    auto* own = new std::vector<T>(values.begin(), values.end());
    nb::capsule owner(own, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(own->data(), {own->size()}, owner));
}

/// Rows as users see them: complex numbers where split rows hold their parts.
nb::object rows_to_numpy(Batch split, const RowLayout& layout);
/// The inverse, for whatever numbers the rows have; real rows of a complex layout are an error.
Batch split_rows(const AnyRows& rows, const RowLayout& layout, std::string_view name);

}  // namespace pibinn::python
