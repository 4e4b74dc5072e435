#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pibinn/omp.hpp"
#include "solvers/group_layout.hpp"

namespace pibinn {

/// The pursuit of one signal on one block, group by group. Gram-Schmidt turns the chosen columns
/// a_1, a_2, ... into orthonormal q_1, q_2, ...; their coefficients form the Cholesky factor L of
/// the chosen columns' Gram. With the Gram at hand the pursuit holds p_k = A^T q_k instead of q_k:
/// then all of L and the correlations of all columns with the residual follow without a product by
/// A. Repetitions that belong together are rows of one pursuit, which share the chosen columns.
class OmpSolver::Pursuit {
public:
    /// `stride` entries lie between the same entry of two repetitions.
    Pursuit(const UnitColumns& block, const Grouping& grouping, std::size_t stride,
            ThreadPool& pool);

    /// Starts with measurements, a repetition per row, and their correlations A^T y with the unit
    /// columns.
    void start(MatrixView<const double> y, MatrixView<const double> correlations);
    /// Takes the group most correlated with the residual. False when there is nothing left to
    /// explain or its columns depend on the chosen ones.
    bool step();
    /// Takes the columns of group j, whatever their correlation. False when all of them depend on
    /// the chosen ones.
    bool take_group(std::size_t j);

    /// The entries of the groups, counted from the block's first one.
    const GroupLayout& layout() const { return layout_; }
    /// Groups whose columns can be independent at most.
    std::size_t most_groups() const;
    std::size_t groups() const { return groups_; }
    /// ||y - A x||^2 of the fit to the chosen columns.
    double residual() const { return residual_energy_; }
    /// The squared residual to stop at, by the tolerance and the noise of OmpOptions.
    double goal(double tolerance, double noise_std) const;

    /// The fit: entries of the signal by chosen column, for columns of their true length.
    void fit();
    /// Calls visit(entry, value) for every entry of the fit, counted alike.
    template <class Visit>
    void for_each_fitted(Visit&& visit) const {
        for (std::size_t k = 0; k < chosen_.size(); ++k)
            for (std::size_t r = 0; r < rows_; ++r)
                visit(r * stride_ + chosen_[k], coefficient(k, r));
    }
    /// Writes the fit, with groups of rounding size left zero. `x` begins at the block's first
    /// entry.
    void write(std::span<float> x);

private:
    std::span<double> basis_row(std::size_t k) {
        return std::span(basis_).subspan(k * width_, width_);
    }
    double strength(std::size_t group) const;
    bool take_column(std::size_t j);
    bool take(std::size_t j);
    double explain(std::size_t j);
    double coefficient(std::size_t k, std::size_t r) const;

    const UnitColumns& block_;
    GroupLayout layout_;
    std::size_t rows_, halves_, sites_, stride_;
    ThreadPool& pool_;
    bool use_gram_;
    std::size_t width_;           ///< of a basis row: n with the Gram, m without
    std::vector<double> basis_;   ///< row k: p_k or q_k
    std::vector<double> factor_;  ///< row k: L(k, 0 .. k), packed
    std::vector<double> target_;  ///< row k: q_k^T y of each repetition
    std::vector<double> fitted_;  ///< row k: coefficients of a unit column
    std::vector<std::uint32_t> chosen_;
    std::size_t groups_ = 0;
    Matrix<double> residual_;     ///< a row per repetition
    Matrix<double> correlation_;  ///< the same
    double energy_ = 0;
    double residual_energy_ = 0;
};

}  // namespace pibinn
