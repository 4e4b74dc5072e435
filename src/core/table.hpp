#pragma once

#include <cstddef>
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
        std::vector<std::string> cells;  ///< one per column
        bool highlight = false;
    };

    std::vector<Column> columns;
    std::vector<Row> rows;

    /// Text in the first column, numbers in the others.
    static Table of(std::vector<std::string> titles);
    void add(std::vector<std::string> cells, bool highlight = false);
};

/// Aligned lines for a terminal, each ended by a line break; a highlighted row starts with '*'. A
/// title wider than `title_width` and than its column's cells is broken at spaces; 0 breaks none.
std::string table_text(const Table& table, std::size_t title_width = 0);

/// Titles of wide tables are broken at this width.
inline constexpr std::size_t kTitleWidth = 8;
/// Stands in a cell that has nothing to tell.
inline constexpr const char* kNone = "–";

}  // namespace pibinn
