#include "pibinn/user_array.hpp"

#include <fmt/format.h>

#include "pibinn/complex_rows.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

template <class T>
Matrix<T> columns_of(const Matrix<std::complex<T>>& values) {
    Matrix<T> columns(values.rows(), 2 * values.cols());
    for (std::size_t i = 0; i < values.size(); ++i) {
        columns.data()[2 * i] = values.data()[i].real();
        columns.data()[2 * i + 1] = values.data()[i].imag();
    }
    return columns;
}

}  // namespace

UserArray::UserArray(const Matrix<std::complex<float>>& values)
    : values_(columns_of(values)), complex_(true) {}
UserArray::UserArray(const Matrix<std::complex<double>>& values)
    : values_(columns_of(values)), complex_(true) {}

UserArray UserArray::as_complex() && {
    if (cols() % 2 != 0)
        fail_input(fmt::format("{} columns are no complex numbers", cols()),
                   "a complex number has two columns: real part, imaginary part");
    complex_ = true;
    return std::move(*this);
}

UserArray UserArray::split(std::size_t vectors) const {
    if (!complex_) return *this;
    return visit([&](const auto& values) { return UserArray(split_complex(values, vectors)); });
}

std::size_t UserArray::rows() const {
    return visit([](const auto& values) { return values.rows(); });
}

std::size_t UserArray::cols() const {
    return visit([](const auto& values) { return values.cols(); });
}

double UserArray::operator()(std::size_t i, std::size_t j) const {
    return visit([&](const auto& values) { return double{values(i, j)}; });
}

Batch UserArray::to_float32(std::size_t begin, std::size_t count, double unit) const {
    ensure(begin <= rows() && count <= rows() - begin, "rows that are there");
    Batch rounded(count, cols());
    visit([&](const auto& values) {
        const auto* const from = values.data() + begin * values.cols();
        for (std::size_t i = 0; i < rounded.size(); ++i)
            rounded.data()[i] = static_cast<float>(double{from[i]} / unit);
    });
    return rounded;
}

Batch UserArray::take_float32() && {
    return precise() ? to_float32() : std::get<Batch>(std::move(values_));
}

}  // namespace pibinn
