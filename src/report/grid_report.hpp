#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "core/table.hpp"
#include "report/html.hpp"

namespace pibinn {

/// One combination of values, over its seeds.
struct GridRow {
    std::vector<std::string> values;  ///< one per key
    std::optional<Spread> train_nmse_db, test_nmse_db, test_energy_nmse_db, test_median_nmse_db;
    std::size_t bits_paper = 0, bits_total = 0;
    double seconds = 0;  ///< of a training
    std::string note;    ///< seeds that failed
    std::string folder;
};

/// All that the page of a grid tells: plain data, made by whoever ran it.
struct GridReport {
    std::vector<std::string> keys;
    std::vector<GridRow> rows;
    std::size_t seeds = 1;
    std::string machine, date, command, version;
};

Table grid_table(const GridReport& report);
std::string grid_csv(const GridReport& report);
/// Test nmse against the first key whose values are all numbers, a curve per combination of the
/// others; nothing where there is no such key or too many curves.
std::optional<Figure> grid_figure(const GridReport& report);
/// The HTML page of a grid.
std::string grid_page(const GridReport& report);

}  // namespace pibinn
