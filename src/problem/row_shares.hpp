#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace pibinn {

/// The rows of a set that each of several ranks draws, measures and holds. Products are made of
/// tasks of up to 128 rows, repetitions folded into rows, and each task is rounded by itself: a
/// share that began anywhere else would round otherwise.
class RowShares {
public:
    RowShares(std::size_t rows, std::size_t repeat, std::size_t parts)
        : rows_(rows), group_(kRowsPerTask / std::gcd(kRowsPerTask, repeat)), parts_(parts) {}

    std::size_t rows() const { return rows_; }
    std::size_t begin(std::size_t part) const {
        return std::min(rows_, groups() * part / parts_ * group_);
    }
    std::size_t size(std::size_t part) const { return begin(part + 1) - begin(part); }
    std::size_t most() const {
        std::size_t most = 0;
        for (std::size_t p = 0; p < parts_; ++p) most = std::max(most, size(p));
        return most;
    }
    /// The part that a row is of.
    std::size_t part_of(std::size_t row) const {
        // The last part that begins at its group or before.
        return ((row / group_ + 1) * parts_ - 1) / groups();
    }

private:
    static constexpr std::size_t kRowsPerTask = 128;
    std::size_t groups() const { return (rows_ + group_ - 1) / group_; }

    std::size_t rows_, group_, parts_;
};

}  // namespace pibinn
