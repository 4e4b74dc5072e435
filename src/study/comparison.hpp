#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pibinn/amp.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/model.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/progress.hpp"
#include "pibinn/train.hpp"
#include "report/comparison_table.hpp"

namespace pibinn::study {

/// The entries of a problem's signals that belong together: the parts of complex numbers, and the
/// same place of several vectors.
Grouping groups_of(const Problem& problem);

/// {"missed":..,"false_alarms":..,"threshold":..}
nlohmann::ordered_json activity_json(const ActivityErrors& errors);

/// The methods a user can choose from, on one problem. What a method has to be tuned for is tuned
/// on training signals, never on the signals that judge. On operators so large that a solver takes
/// milliseconds per signal, tuning takes fewer training signals and solvers are judged by the first
/// of the test signals; each row knows by how many.
class Comparison {
public:
    static constexpr std::size_t kManyIterations = 100;  ///< enough for solvers to converge

    /// Keeps references: problem and pool must outlive it.
    Comparison(const Problem& problem, ThreadPool& pool);

    /// The best of a few lambdas, relative to each signal or the same for all, at exactly so many
    /// iterations.
    void add_lasso(LassoMethod method, std::size_t iterations);
    /// Stopped as recovers training signals best; left out where one signal takes seconds.
    void add_omp();
    /// Of channels in beamspace alone: told the number of paths, and as wide as recovers training
    /// signals best.
    void add_support_detection();
    /// Alpha, or the law of the signals, from training signals; at most so many iterations.
    void add_amp(AmpShrink shrink, std::size_t iterations = kManyIterations);
    void add_linear();  ///< as fitted, and rounded to int8
    /// Least squares on the support of the test signals, which no method knows: a bound. Only where
    /// signals have fewer entries than measurements.
    void add_oracle();
    /// `ours`: the network in question, not one more to compare it with.
    void add_model(const std::string& method, const Model& model, bool ours = true);
    /// A trained network, and before it the float network it started from where there is one.
    void add_trained(const std::string& method, const TrainResult& result);
    /// ISTA and FISTA at the network's depth, FISTA at 100 iterations, OMP, support detection of
    /// channels, AMP, the linear estimator and the oracle.
    void add_references(std::size_t layers);

    const std::vector<ComparisonRow>& rows() const { return rows_; }
    /// Of the network in question, where it matters who is active.
    std::optional<ActivityErrors> own_activity() const;
    /// Text for a terminal: the rows, and below them what the times mean.
    std::string text() const;
    nlohmann::ordered_json json() const;

    /// How many of the test signals judge solvers on an operator: all, unless that took minutes.
    static std::size_t judging_signals(const Operator& op, std::size_t test_signals);

private:
    using Solve = std::function<Batch(ConstBatchView y, ThreadPool& pool)>;

    /// Judges and times a method by the first `signals` of the test set.
    ComparisonRow& add(const std::string& method, std::size_t stored_bits, std::size_t signals,
                       const Solve& solve);
    std::optional<ActivityErrors> activity_of(ConstBatchView truth, ConstBatchView found) const;
    /// What a solver stores of the operator, counted as for a model.
    std::size_t reference_bits() const;

    const Problem& problem_;
    Grouping grouping_;
    DataSet tuning_;
    NoiseLevel noise_;            ///< seen in the training pairs
    std::size_t solver_signals_;  ///< of the test set, that judge solvers
    ThreadPool& pool_;
    std::vector<ComparisonRow> rows_;
};

}  // namespace pibinn::study
