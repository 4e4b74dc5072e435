#pragma once

#include <string>
#include <string_view>

#include "core/table.hpp"

namespace pibinn {

/// A table as Markdown, ended by a line break.
std::string table_markdown(const Table& table);

/// Prose on lines of at most 100 letters, ended by a line break; `first` stands before the first
/// line, as many spaces before the others.
std::string wrapped(std::string_view text, std::string_view first = {});

/// A field of a CSV file, in quotes.
std::string csv_word(const std::string& word);

}  // namespace pibinn
