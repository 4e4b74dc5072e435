#pragma once

#include <string>
#include <vector>

namespace pibinn {

/// Rows of text under column titles. Columns of numbers stand flush right.
struct Table {
    struct Column {
        std::string title;
        bool number = false;
    };
    struct Row {
        std::vector<std::string> cells;  ///< one a column
        bool highlight = false;
    };

    std::vector<Column> columns;
    std::vector<Row> rows;

    /// Text in the first column, numbers in the others.
    static Table of(std::vector<std::string> titles);
    void add(std::vector<std::string> cells, bool highlight = false);
};

/// Aligned lines for a terminal, each ended by a line break; a highlighted row starts with '*'.
std::string table_text(const Table& table);

}  // namespace pibinn
