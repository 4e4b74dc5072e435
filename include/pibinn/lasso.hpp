// room: solvers
#pragma once

#include <cstddef>
#include <span>

#include "pibinn/grouping.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/solvers.hpp"

namespace pibinn {

enum class LassoMethod { ista, fista };

enum class LambdaUnit {
    absolute,  ///< lambda itself, the same for every signal
    relative   ///< a share of each signal's max|A^T y|_g, from which on its solution is zero
};

/// min 1/2 ||A x - y||^2 + lambda sum of |x_g|, one problem per signal, with steps of 1 / ||A||^2.
/// |x_g| is the magnitude of an entry or, where entries have groups, the norm of a group: of the
/// two parts of a complex entry, or of the entries that several vectors have in one place.
struct LassoOptions {
    LassoMethod method = LassoMethod::fista;
    double lambda = 0.01;
    LambdaUnit unit = LambdaUnit::relative;
    /// In (0, 1): lambda starts at max|A^T y| and shrinks by this factor each iteration until it
    /// reaches its final value. 0 keeps it fixed.
    double continuation = 0;
    std::size_t max_iterations = 1000;
    /// A signal is done when a step moves it by less than this share of its norm.
    double tolerance = 1e-6;
    /// FISTA forgets its momentum when that points uphill (O'Donoghue and Candes, 2015).
    bool restart = true;
    Grouping grouping = {};
    /// ||A||^2 where the caller knows it, so that many calls compute it once; 0 computes it.
    double squared_norm = 0;
};

/// The same bytes for any number of threads. Signals that are done cost nothing further.
Solution solve_lasso(const Operator& op, ConstBatchView y, const LassoOptions& options,
                     ThreadPool& pool);

struct LambdaChoice {
    double lambda = 0;
    double nmse_db = 0;  ///< mean of ||xhat - x||^2 / ||x||^2 over the signals that are not zero
};

/// The candidate whose solutions have the least nmse on `pairs`; the first of equals.
/// `options.lambda` is not used, everything else is: the limit of iterations above all.
LambdaChoice best_lambda(const Operator& op, const DataSet& pairs,
                         std::span<const double> candidates, LassoOptions options,
                         ThreadPool& pool);

}  // namespace pibinn
