// room: core
#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// Rows of numbers as a user gives them: float32, or float64. Training works in float32 but divides
/// by the size of the numbers first. Whoever gives float64 therefore gets the same training
/// whatever the unit; numbers that come as float32 were rounded in a unit before.
class UserArray {
public:
    UserArray() = default;
    UserArray(Batch values) : values_(std::move(values)) {}
    UserArray(Matrix<double> values) : values_(std::move(values)) {}

    std::size_t rows() const;
    std::size_t cols() const;
    std::size_t size() const { return rows() * cols(); }
    /// Whether the numbers are float64.
    bool precise() const { return std::holds_alternative<Matrix<double>>(values_); }
    double operator()(std::size_t i, std::size_t j) const;

    /// Rows begin .. begin + count - 1 divided by `unit`, then rounded to float32.
    Batch to_float32(std::size_t begin, std::size_t count, double unit = 1) const;
    /// All rows, likewise.
    Batch to_float32(double unit = 1) const { return to_float32(0, rows(), unit); }
    /// The same of numbers that are not needed any more: those of float32 are not copied.
    Batch take_float32() &&;

    /// Calls `f` with the Batch or the Matrix<double>.
    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), values_);
    }

    bool operator==(const UserArray&) const = default;

private:
    std::variant<Batch, Matrix<double>> values_;
};

}  // namespace pibinn
