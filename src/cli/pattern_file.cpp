#include "cli/pattern_file.hpp"

#include "core/file.hpp"

namespace pibinn::cli {

void write_pattern(std::span<const PatternPanel> panels, const std::string& file) {
    if (file.ends_with(".png"))
        pattern_png(panels, file);
    else
        write_file(file, pattern_svg(panels));
}

}  // namespace pibinn::cli
