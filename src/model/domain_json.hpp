#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "pibinn/signal_domain.hpp"

namespace pibinn {

/// The metadata `pibinn.domain` of a model file (docs/file-format.md). A basis of kind `matrix` is
/// a tensor of its own.
nlohmann::json domain_to_json(const SignalDomain& domain);

/// Psi of so many entries, as the file has it.
using ReadPsi = std::function<Matrix<float>(std::size_t entries)>;

/// Believes nothing: whatever does not fit rows of m measurements and n entries, or takes more
/// memory than a file of so many bytes may (data/claims.hpp), is an input error.
SignalDomain domain_from_json(const nlohmann::json& j, std::size_t m, std::size_t n,
                              const ReadPsi& read_psi, std::uint64_t file_bytes,
                              const std::string& where);

}  // namespace pibinn
