#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "report/field_report.hpp"

namespace pibinn::study {

/// One case of the benchmark as its folder keeps it.
struct FieldCaseFile {
    std::string configuration;   ///< word for word
    std::vector<FieldRow> rows;  ///< none: not finished
    std::string stages;          ///< of a training: names and epochs
    double seconds = 0;
};

void save_field_case(const std::filesystem::path& path, const FieldCaseFile& file);
/// Refuses what is no such file.
FieldCaseFile load_field_case(const std::filesystem::path& path);

nlohmann::ordered_json field_row_json(const FieldRow& row);

}  // namespace pibinn::study
