#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "study/cell_study.hpp"
#include "study/experiment.hpp"
#include "study/reproduction.hpp"

namespace pibinn::study {

/// The experiments of a request and the trainings that they need, each of them once.
class ReproductionPlan {
public:
    /// Reads the experiments and refuses unknown ones. Nothing is made.
    ReproductionPlan(const ReproductionRequest& request, Study& study);

    const std::vector<Experiment>& experiments() const { return experiments_; }
    /// What came of a row by a recipe, seed by seed; empty where it was not trained.
    std::vector<const CellResult*> results(const Experiment& experiment, const ExperimentRow& row,
                                           std::string_view recipe) const;
    /// Which trainings of a row failed, and why; empty for none.
    std::string failures(const Experiment& experiment, const ExperimentRow& row) const;
    /// Why a row is not trained, in a few words; empty where it is.
    std::string missing(const ExperimentRow& row) const;
    /// Folder of a row's trainings, and the command of the first of them; empty for none.
    std::string folder(const Experiment& experiment, const ExperimentRow& row) const;
    std::string command(const Experiment& experiment, const ExperimentRow& row) const;

private:
    /// An experiment and a row of it whose trainings a row shows: itself, or those that it names.
    struct Trained {
        const Experiment* experiment;
        const ExperimentRow* row;
        std::string key(std::string_view recipe) const;
    };
    Trained trained(const Experiment& experiment, const ExperimentRow& row) const;
    const Experiment& any_experiment(const std::string& id) const;
    void add_cells(const Experiment& experiment, const ExperimentRow& row, std::string_view recipe);
    std::vector<std::string> settings(const Trained& row, std::string_view recipe) const;
    std::size_t seeds(const Experiment& experiment, const ExperimentRow& row) const;

    const ReproductionRequest& request_;
    Study& study_;
    std::vector<Experiment> experiments_;
    std::vector<Experiment> all_;  ///< every one there is: rows name rows of others
    std::map<std::string, std::vector<std::size_t>> cells_;  ///< of a row and a recipe
};

}  // namespace pibinn::study
