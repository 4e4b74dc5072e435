// room: core
#pragma once

#include <complex>
#include <cstddef>
#include <utility>
#include <variant>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// Rows of numbers as a user gives them: float32, or float64. Training works in float32 but divides
/// by the size of the numbers first. Whoever gives float64 therefore gets the same training
/// whatever the unit; numbers that come as float32 were rounded in a unit before.
///
/// A complex number has two columns: real part and imaginary part.
class UserArray {
public:
    UserArray() = default;
    UserArray(Batch values) : values_(std::move(values)) {}
    UserArray(Matrix<double> values) : values_(std::move(values)) {}
    UserArray(const Matrix<std::complex<float>>& values);
    UserArray(const Matrix<std::complex<double>>& values);
    /// The same columns as the parts of complex numbers. Of an odd number of them this is an input
    /// error.
    UserArray as_complex() &&;

    std::size_t rows() const;
    std::size_t cols() const;  ///< two per complex number
    std::size_t size() const { return rows() * cols(); }
    bool complex() const { return complex_; }
    /// Numbers per row, a complex one counted once.
    std::size_t entries() const { return complex_ ? cols() / 2 : cols(); }
    /// Whether the numbers are float64.
    bool precise() const { return std::holds_alternative<Matrix<double>>(values_); }
    double operator()(std::size_t i, std::size_t j) const;

    /// Rows begin .. begin + count - 1 divided by `unit`, then rounded to float32.
    Batch to_float32(std::size_t begin, std::size_t count, double unit = 1) const;
    /// All rows, likewise.
    Batch to_float32(double unit = 1) const { return to_float32(0, rows(), unit); }
    /// The same of numbers that are not needed any more: those of float32 are not copied.
    Batch take_float32() &&;

    /// Of complex numbers, rows as everything inside has them: `vectors` times real parts and then
    /// imaginary parts. Real ones stay as they are.
    UserArray split(std::size_t vectors = 1) const;

    /// Calls `f` with the Batch or the Matrix<double>.
    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), values_);
    }

    bool operator==(const UserArray&) const = default;

private:
    std::variant<Batch, Matrix<double>> values_;
    bool complex_ = false;
};

}  // namespace pibinn
