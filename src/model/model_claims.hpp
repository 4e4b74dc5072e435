#pragma once

#include <cstdint>
#include <string>

#include "pibinn/network_spec.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// Refuses a model whose numbers, and what recovering one row with it takes, are more than a file
/// of this length warrants (docs/file-format.md, "Hostile files"). Before memory is taken for it.
void check_claims(const std::string& where, const NetworkSpec& spec, const Structure& s,
                  bool by_formula, std::uint64_t file_bytes);

/// The part of it that needs no structure yet: the measurements and the entries of one row.
void check_row_claim(const std::string& where, std::size_t m, std::size_t n, std::size_t repeat,
                     std::uint64_t file_bytes);

}  // namespace pibinn
