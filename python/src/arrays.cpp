#include "arrays.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "pibinn/complex_rows.hpp"
#include "pibinn/error.hpp"

namespace pibinn::python {

namespace {

/// Whether float32 can hold the number, or either part of a complex one.
template <class T>
bool holds(T value) {
    return std::abs(value) <= static_cast<T>(std::numeric_limits<float>::max());
}
template <class T>
bool holds(std::complex<T> value) {
    return holds(value.real()) && holds(value.imag());
}

template <class T>
std::string text_of(T value) {
    return fmt::to_string(value);
}
template <class T>
std::string text_of(std::complex<T> value) {
    return fmt::format("{}{:+}j", value.real(), value.imag());
}

template <class T>
Matrix<T> checked_copy(const AnyRows& rows, std::string_view name) {
    const std::size_t cols = rows.shape(1);
    Matrix<T> own(rows.shape(0), cols);
    const T* values = static_cast<const T*>(rows.data());
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (!holds(values[i]))
            fail_input(fmt::format("{} has {} at row {}, column {} (counted from 0)", name,
                                   text_of(values[i]), i / cols, i % cols),
                       "replace NaN, infinite values and those that float32 cannot hold");
        own.data()[i] = values[i];
    }
    return own;
}

}  // namespace

UserArray user_array(const AnyRows& rows, std::string_view name) {
    if (rows.dtype() == nb::dtype<float>()) return checked_copy<float>(rows, name);
    if (rows.dtype() == nb::dtype<double>()) return checked_copy<double>(rows, name);
    if (rows.dtype() == nb::dtype<std::complex<float>>())
        return checked_copy<std::complex<float>>(rows, name);
    if (rows.dtype() == nb::dtype<std::complex<double>>())
        return checked_copy<std::complex<double>>(rows, name);
    fail_usage(fmt::format("{} is of a type that is not read", name),
               "give float32, float64, complex64 or complex128");
}

nb::object rows_to_numpy(Batch split, const RowLayout& layout) {
    if (!layout.complex) return to_numpy(std::move(split));
    return to_numpy(join_complex(split, layout.vectors));
}

Batch split_rows(const AnyRows& rows, const RowLayout& layout, std::string_view name) {
    const UserArray own = user_array(rows, name);
    if (own.complex() != layout.complex && own.rows() > 0)
        fail_input(fmt::format("{} is {}", name, own.complex() ? "complex" : "real"),
                   layout.complex ? "give complex numbers" : "give real numbers");
    return own.split(layout.vectors).to_float32();
}

}  // namespace pibinn::python
