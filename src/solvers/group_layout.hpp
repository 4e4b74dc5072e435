#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "pibinn/grouping.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// Refuses a grouping that the structure has no room for.
void require_grouping(const Structure& structure, const Grouping& grouping);

/// Where the entries of the groups of a block stand among some numbers: `sets` times
/// `grouping.rows` repetitions of its `width` columns, which begin `stride` numbers apart. The
/// first entry of a group tells where the others are.
class GroupLayout {
public:
    GroupLayout(std::size_t width, std::size_t stride, std::size_t sets, const Grouping& grouping)
        : sites_(width / grouping.halves), sets_(sets), set_(stride * grouping.rows) {
        for (std::size_t r = 0; r < grouping.rows; ++r)
            for (std::size_t h = 0; h < grouping.halves; ++h)
                offsets_.push_back(r * stride + h * sites_);
    }

    std::size_t sites() const { return sites_; }  ///< groups of one set
    std::size_t size() const { return offsets_.size(); }
    bool trivial() const { return size() == 1; }

    /// Calls visit(first) for every group, `first` being its first entry.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t s = 0; s < sets_; ++s)
            for (std::size_t j = 0; j < sites_; ++j) visit(s * set_ + j);
    }
    /// Calls visit(entry) for every entry of a group.
    template <class Visit>
    void for_entries(std::size_t first, Visit&& visit) const {
        for (const std::size_t offset : offsets_) visit(first + offset);
    }

    template <class T>
    double energy(std::span<T> values, std::size_t first) const {
        double sum = 0;
        for (const std::size_t offset : offsets_) {
            const double v = values[first + offset];
            sum += v * v;
        }
        return sum;
    }

private:
    std::size_t sites_, sets_, set_;
    std::vector<std::size_t> offsets_;
};

/// The layout of a whole signal.
inline GroupLayout group_layout(const Structure& s, const Grouping& grouping) {
    require_grouping(s, grouping);
    const std::size_t n = s.cols() / s.repeat();
    return {n, n, s.repeat() / grouping.rows, grouping};
}

}  // namespace pibinn
