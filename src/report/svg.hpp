#pragma once

#include <string>
#include <string_view>

namespace pibinn {

/// An SVG document of gnuplot made fit to stand inside a page: without prolog and tool tips, with
/// `label` for those who cannot see it, with ids and references that start with `prefix` (all of
/// gnuplot's documents use the same ones), and with axes and text in the page's own colour.
std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view label);

}  // namespace pibinn
