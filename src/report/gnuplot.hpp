#pragma once

#include <string>

namespace pibinn {

struct Plot;

/// The commands that make gnuplot draw a plot after `terminal`, data included. Text of the caller
/// is quoted so that none of it can be a command.
std::string gnuplot_script(const Plot& plot, const std::string& terminal);

/// A gnuplot string in which only letters and spaces stand as they are: quotes, backticks (which
/// would run a program), macros and escapes all become \ooo, and digits too, since gnuplot reads
/// on past the third. Single quotes are no way out: gnuplot 5.4 takes a doubled one at the start of
/// a string for its end. Control characters become spaces.
std::string gnuplot_quoted(const std::string& text);

/// What gnuplot writes to its standard output when given the script.
std::string run_gnuplot(const std::string& script);

/// Axes and text are drawn in this colour, so that a page can put its own in its place.
inline constexpr unsigned kInk[3] = {38, 44, 56};
/// The same as gnuplot reads it: "#262c38".
std::string ink();

}  // namespace pibinn
