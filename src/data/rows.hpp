#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pibinn/matrix.hpp"
#include "pibinn/user_array.hpp"

namespace pibinn {

/// Some rows of a matrix, in an order of their own.
template <class T>
Matrix<T> pick_rows(const Matrix<T>& from, std::span<const std::uint32_t> rows) {
    Matrix<T> to(rows.size(), from.cols());
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(from.row(rows[i]).begin(), from.cols(), to.row(i).begin());
    return to;
}
inline UserArray pick_rows(const UserArray& from, std::span<const std::uint32_t> rows) {
    return from.visit([&](const auto& numbers) { return UserArray(pick_rows(numbers, rows)); });
}

}  // namespace pibinn
