#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/field_report.hpp"
#include "study/field_cases.hpp"
#include "study/training_run.hpp"

namespace pibinn::study {

/// "tied", "tied, one model for 10 to 40 dB".
std::string method_of(const FieldCase& field);
/// Of a row: nothing without noise.
std::optional<double> ratio_of(const FieldNoise& noise);

/// The methods without a network on a problem of the benchmark: figures over the seeds, times and
/// bits of the first.
std::vector<FieldRow> reference_rows(const FieldReference& field, const SeedProblems& problems,
                                     ThreadPool& pool);
/// The models of a training on the test signals of every noise that it is for.
std::vector<FieldRow> network_rows(const FieldCase& field, const std::vector<SeedRun>& runs,
                                   ThreadPool& pool);

}  // namespace pibinn::study
