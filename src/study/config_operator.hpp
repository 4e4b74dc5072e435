#pragma once

#include <cstdint>
#include <string>

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

/// A folder holds A.npy, x.npy and perhaps y.npy; files that are named go before.
void look_in_folder(const std::string& folder, ProblemConfig& problem);
/// Refuses to say that numbers are complex of files that say it themselves.
void require_text_files(const ConfigValue& value, const ProblemConfig& problem);

}  // namespace pibinn::study
