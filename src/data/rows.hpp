#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// Some rows of a batch, in an order of their own.
inline Batch pick_rows(const Batch& from, std::span<const std::uint32_t> rows) {
    Batch to(rows.size(), from.cols());
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(from.row(rows[i]).begin(), from.cols(), to.row(i).begin());
    return to;
}

}  // namespace pibinn
