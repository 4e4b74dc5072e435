#pragma once

#include <string>

#include "core/table.hpp"

namespace pibinn {

/// A table as Markdown, ended by a line break.
std::string table_markdown(const Table& table);

/// A field of a CSV file, in quotes.
std::string csv_word(const std::string& word);

}  // namespace pibinn
