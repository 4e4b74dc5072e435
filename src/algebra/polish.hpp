#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pibinn/grouping.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// Polish ends at this share of the first squared gradient: float32 has no digits left to gain.
inline constexpr float kPolished = 1e-14F;

/// It also ends where the gradient A_S^T r is not longer than what rounding leaves of products that
/// should be zero: at this share of ||A_S||^2 ||r||^2, five roundings squared. Beyond that the
/// directions of conjugate gradients are rounding, and their steps of any length: a support of one
/// entry is settled by one step, and five more ended at ten thousand times the signal.
inline constexpr float kRounded = 1e-13F;

/// A power of two near the largest of some numbers, 1 where all are zero. Polish divides columns
/// and measurements by theirs, since it squares A^T r twice over: in units of 1e5 and 1e9 float32
/// would overflow. Powers of two change no digit.
float polish_unit(std::span<const float> values);

/// Conjugate gradients for ||y - A_S x_S||^2 on the support S that a network found, from what it
/// found there: it takes the bias of thresholds off. Both products touch the columns of S alone.
///
/// S is a set of sites, each of them one group: an entry, both parts of a complex entry, or the
/// same entry of several rows. Rows of a group share S, but not their measurements, so that each
/// has conjugate gradients of its own: they are nearer to the end after as many steps.
class Polish {
public:
    /// Keeps a view of the operator's values, one per link of the block. Where residuals are
    /// `centred`, so are the columns and y.
    Polish(const Block& block, std::span<const float> operator_values, Grouping grouping = {},
           bool centred = false);

    /// The rows of one group: S holds the sites whose magnitude is beyond `cut` times the largest,
    /// all others become zero. Nothing happens where S has more entries per row than there are
    /// measurements, which any x_S explains, or where x holds what is no number, which must not
    /// become a zero.
    void run(std::size_t steps, float cut, ConstBatchView y, BatchView x);
    /// The same where a group has one row.
    void run(std::size_t steps, float cut, std::span<const float> y, std::span<float> x);

private:
    void find_support(float cut, BatchView x);
    void gather_columns();
    void solve(std::size_t steps, std::span<const float> y, std::span<float> x);

    Block block_;
    std::span<const float> values_;
    Grouping grouping_;
    bool centred_;
    std::vector<float> sizes_;          ///< of the sites
    std::vector<std::size_t> support_;  ///< columns, ascending
    std::vector<float> columns_;        ///< of S, one after the other, zeros included
    float per_a_ = 1;                   ///< one over the unit of these columns
    float rounded_ = 0;                 ///< kRounded ||per_a A_S||^2
    std::vector<float> r_, p_, q_, s_;
};

}  // namespace pibinn
