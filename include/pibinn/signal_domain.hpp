// room: problem
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "pibinn/basis.hpp"
#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// What is removed from signals before they are sensed. `patch` removes the mean of every signal (a
/// patch, a segment), which is then kept beside its measurements; `global` removes the mean of all
/// values of the training set; `zscore` also divides by their deviation.
enum class Normalize { none, global, patch, zscore };

std::string_view to_string(Normalize normalize);
Normalize parse_normalize(std::string_view name);

/// Where signals live and how they become what the network recovers: coefficients of normalised
/// signals in a basis. A model carries this, so that it can go back to pixels or volts.
///
/// A row may hold several vectors, one after the other, and complex ones as their real parts and
/// then their imaginary parts: `vectors` times (Re, Im). Rows of measurements are laid out alike.
struct SignalDomain {
    bool complex = false;     ///< entries and measurements are complex numbers
    std::size_t vectors = 1;  ///< vectors per row, which all go through the same operator
    /// Of real signals: their measurements are complex, and known to be those of real signals.
    bool complex_measurements = false;
    Basis basis;
    std::size_t patch = 0;  ///< side of the square patches of pictures; 0 for other signals
    Normalize normalize = Normalize::none;
    double mean = 0;       ///< of all training values; 0 for `none` and `patch`
    double deviation = 1;  ///< of all training values for `zscore`, otherwise 1
    double noise_std = 0;  ///< of the noise on signals before sensing, in the signals' own unit

    /// Whether signals are the coefficients themselves.
    bool plain() const;
    /// How the rows of signals, and of their measurements, are laid out.
    RowLayout signal_rows() const { return {complex, vectors}; }
    RowLayout measurement_rows() const { return {complex || complex_measurements, vectors}; }
    /// Whether a row is one vector of real numbers.
    bool one_real_vector() const { return !complex && vectors == 1; }
    /// Whether rows of n entries and of m measurements can be laid out so.
    bool fits(std::size_t m, std::size_t n) const {
        return measurement_rows().fits(m) && signal_rows().fits(n);
    }

    /// Whether the basis is of the vectors of such rows.
    bool fits_basis(std::size_t n) const {
        const std::size_t runs = complex && !basis.is_complex() ? 2 * vectors : vectors;
        return basis.is_identity() ||
               (basis.length() * runs == n && (complex || !basis.is_complex()));
    }

    /// Computes mean and deviation of the training signals. `zscore` of values that are all equal
    /// is an input error that names `where`.
    void fit(ConstBatchView train, std::string_view where);

    /// Normalises, then analyses. `means` receives the mean that `patch` removed from each row, and
    /// zeros otherwise.
    Batch to_coefficients(ConstBatchView signals, ThreadPool& pool,
                          std::vector<double>* means = nullptr) const;
    /// The inverse. With `patch`, rows come back without their mean unless it is given.
    Batch to_signals(ConstBatchView coefficients, ThreadPool& pool,
                     const std::vector<double>* means = nullptr) const;
};

}  // namespace pibinn
