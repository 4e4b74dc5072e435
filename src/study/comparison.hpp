#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pibinn/lasso.hpp"
#include "pibinn/model.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/progress.hpp"
#include "report/comparison_table.hpp"

namespace pibinn::study {

/// The methods a user can choose from, on one problem. What a method has to be tuned for is tuned
/// on training signals, never on the signals that judge.
class Comparison {
public:
    /// Keeps references: problem and pool must outlive it.
    Comparison(const Problem& problem, ThreadPool& pool);

    /// The best of a few lambdas at exactly so many iterations.
    void add_lasso(LassoMethod method, std::size_t iterations);
    void add_omp();
    void add_linear();  ///< as fitted, and rounded to int8
    /// `ours`: the network in question, not one more to compare it with.
    void add_model(const std::string& method, const Model& model, bool ours = true);
    /// FISTA at the network's depth and at 100 iterations, OMP and the linear estimator.
    void add_references(std::size_t layers);

    const std::vector<ComparisonRow>& rows() const { return rows_; }
    /// Text for a terminal: the rows, and below them what the times mean.
    std::string text() const;
    nlohmann::ordered_json json() const;

private:
    using Solve = std::function<Batch(ConstBatchView y, ThreadPool& pool)>;

    void add(const std::string& method, std::size_t stored_bits, const Solve& solve);
    /// What a solver stores of the operator, counted as for a model.
    std::size_t reference_bits() const;

    const Problem& problem_;
    DataSet tuning_;
    ThreadPool& pool_;
    std::vector<ComparisonRow> rows_;
};

}  // namespace pibinn::study
