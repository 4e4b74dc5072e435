#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/numbers.hpp"
#include "study/training_run.hpp"

namespace pibinn::study {

/// What a study keeps of one training, by name: numbers, and curves with one value per layer.
struct CellResult {
    std::string configuration;  ///< of the cell it came from, word for word
    std::string stages;         ///< names and epochs
    std::string failure;        ///< why there are no numbers: training diverged
    std::map<std::string, double> numbers;
    std::map<std::string, std::vector<double>> curves;

    bool finished() const { return !numbers.empty() || !failure.empty(); }
    std::optional<double> number(const std::string& name) const;
    const std::vector<double>* curve(const std::string& name) const;
};

/// How a difference to a published number is judged.
enum class QuantityRule {
    decibels,  ///< within 1 dB; less is better
    equal,     ///< the same number
    share,     ///< within a tenth
    time,      ///< at most as long
    none
};

/// A number that a result may have.
struct Quantity {
    std::string_view name;
    std::string_view title;  ///< of a column, unit included
    int digits = 2;          ///< after the point; none: groups of three
    QuantityRule rule = QuantityRule::none;
};

/// Those that tables may show. Results have "seconds_STAGE" of every stage.
std::span<const Quantity> quantities();
/// Refuses a name that no result has; `where` says who asked.
Quantity find_quantity(std::string_view name, std::string_view where);

/// A number of several seeds; nothing where one of them has not got it.
std::optional<Spread> over_cells(std::span<const CellResult* const> cells,
                                 const std::string& quantity);
/// The mean over the seeds, layer by layer.
std::vector<double> mean_curve(std::span<const CellResult* const> cells, const std::string& curve);

/// What is kept of a finished training. Spectral terms are those of a fixed support.
CellResult digest(const TrainingRun& run, const SeedRun& seed, ThreadPool& pool);

/// cell.json. A file that is broken is an input error.
CellResult load_cell(const std::filesystem::path& file);
void save_cell(const std::filesystem::path& file, const CellResult& result);

}  // namespace pibinn::study
