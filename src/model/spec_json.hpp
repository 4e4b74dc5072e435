#pragma once

#include <span>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "model/parameters.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

nlohmann::json to_json(const NetworkSpec& spec);
/// Believes nothing; `where` names the file and the metadata in errors, which are input errors.
NetworkSpec spec_from_json(const nlohmann::json& json, const std::string& where);

/// Kind and sizes; the pattern of a mask is kept elsewhere.
nlohmann::json structure_to_json(const Structure& structure);
StructureKind structure_kind(const nlohmann::json& json, const std::string& where);
/// m and n of the whole operator.
std::pair<std::size_t, std::size_t> structure_sides(const nlohmann::json& json,
                                                    const std::string& where);
/// `offsets` and `rows` are the pattern of a mask, of a complex one that of its complex entries.
Structure structure_from_json(const nlohmann::json& json, std::span<const std::uint32_t> offsets,
                              std::span<const std::uint32_t> rows, std::uint64_t file_bytes,
                              const std::string& where);

}  // namespace pibinn
