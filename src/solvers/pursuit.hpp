#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pibinn/omp.hpp"

namespace pibinn {

/// The pursuit of one signal on one block, column by column. Gram-Schmidt turns the chosen columns
/// a_1, a_2, ... into orthonormal q_1, q_2, ...; their coefficients form the Cholesky factor L of
/// the chosen columns' Gram. With the Gram at hand the pursuit holds p_k = A^T q_k instead of q_k:
/// then all of L and the correlations of all columns with the residual follow without a product by
/// A.
class OmpSolver::Pursuit {
public:
    Pursuit(const UnitColumns& block, ThreadPool& pool);

    /// Starts with a measurement and the correlations A^T y of its unit columns.
    void start(std::span<const double> y, std::span<const double> correlations);
    /// Takes the column most correlated with the residual. False when there is nothing left to
    /// explain or that column depends on the chosen ones.
    bool step();
    /// Takes column j, whatever its correlation. False when it depends on the chosen ones.
    bool take_column(std::size_t j);

    /// Columns that can be independent at most.
    std::size_t most_columns() const;
    std::size_t columns() const { return chosen_.size(); }
    /// ||y - A x||^2 of the fit to the chosen columns.
    double residual() const { return residual_energy_; }
    /// The squared residual to stop at, by the tolerance and the noise of OmpOptions.
    double goal(double tolerance, double noise_std) const;

    /// The fit: entries of the signal by chosen column, for columns of their true length.
    void fit();
    std::span<const std::uint32_t> chosen() const { return chosen_; }
    double coefficient(std::size_t k) const;
    /// Writes the fit, with entries of rounding size left zero.
    void write(std::span<float> x);

private:
    std::span<double> basis_row(std::size_t k) {
        return std::span(basis_).subspan(k * width_, width_);
    }
    std::size_t strongest() const;
    bool take(std::size_t j);
    double explain(std::size_t j);

    const UnitColumns& block_;
    ThreadPool& pool_;
    bool use_gram_;
    std::size_t width_;           ///< of a basis row: n with the Gram, m without
    std::vector<double> basis_;   ///< row k: p_k or q_k
    std::vector<double> factor_;  ///< row k: L(k, 0 .. k), packed
    std::vector<double> target_;  ///< q_k^T y
    std::vector<double> fitted_;  ///< coefficients of unit columns
    std::vector<std::uint32_t> chosen_;
    Matrix<double> residual_;
    Matrix<double> correlation_;
    double energy_ = 0;
    double residual_energy_ = 0;
};

}  // namespace pibinn
