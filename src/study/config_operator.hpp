#pragma once

#include <cstdint>

namespace pibinn::study {

class ConfigValue;
struct ProblemConfig;

// The keys of [problem] that say what the operator is. Each refuses what does not go together with
// the keys that stand before it.

/// Beyond any problem that fits a machine; keeps products of sizes from wrapping.
inline constexpr std::uint64_t kLargestSide = 1U << 24;

void set_operator(const ConfigValue& value, bool structure_given, ProblemConfig& problem);
/// Sizes come from one place: the files, the list of blocks, or m, n and repeat.
void set_blocks(const ConfigValue& value, bool sizes_given, ProblemConfig& problem);
void set_mask_density(const ConfigValue& value, ProblemConfig& problem);
void set_ones_per_column(const ConfigValue& value, ProblemConfig& problem);

}  // namespace pibinn::study
