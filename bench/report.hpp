#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/result.hpp"

namespace pibinn::bench {

/// A table for each bench among the results, with its unit.
std::string results_text(const std::vector<BenchResult>& results);
/// {"machine":..,"blas":..,"results":[..]}: one entry per peer. An entry without a peer has null in
/// `peer`, `peer_us` and `ratio`.
nlohmann::ordered_json results_json(const std::vector<BenchResult>& results);

}  // namespace pibinn::bench
