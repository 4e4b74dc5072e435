#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pibinn/lasso.hpp"
#include "pibinn/metrics.hpp"
#include "pibinn/model.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/progress.hpp"

namespace pibinn::study {

/// One way to recover the signals of a test set, judged.
struct Entry {
    std::string method;
    Metrics metrics;
    double microseconds = 0;  ///< a signal, of the whole batch
    std::size_t stored_bits = 0;
    bool ours = false;
};

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
    void add_model(const std::string& method, const Model& model);
    /// FISTA at the network's depth and at 100 iterations, OMP and the linear estimator.
    void add_references(std::size_t layers);

    const std::vector<Entry>& entries() const { return entries_; }
    std::string table() const;
    nlohmann::ordered_json json() const;

private:
    void add(Entry entry, const std::function<Batch()>& solve);
    /// What a solver stores of the operator, counted as for a model.
    std::size_t reference_bits() const;

    const Problem& problem_;
    DataSet tuning_;
    ThreadPool& pool_;
    std::vector<Entry> entries_;
};

}  // namespace pibinn::study
