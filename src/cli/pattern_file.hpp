#pragma once

#include <span>
#include <string>

#include "cli/arrays.hpp"
#include "report/pattern.hpp"

namespace pibinn::cli {

/// A picture that can be written: .svg or .png. Refused before work is spent on it.
inline void require_picture(const std::string& file) { require_output(file, {".svg", ".png"}); }

void write_pattern(std::span<const PatternPanel> panels, const std::string& file);

}  // namespace pibinn::cli
