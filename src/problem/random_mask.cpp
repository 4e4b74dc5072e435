#include "problem/random_mask.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/random.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kOnesPerColumn = 8;

using Columns = std::vector<std::vector<std::uint32_t>>;  ///< the rows of each one's links

Structure mask_of(std::size_t m, const Columns& columns) {
    std::vector<std::uint32_t> offsets{0};
    std::vector<std::uint32_t> rows;
    for (const auto& column : columns) {
        rows.insert(rows.end(), column.begin(), column.end());
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    return Structure::mask(m, columns.size(), std::move(offsets), std::move(rows));
}

/// Takes a link of a row that has several, from a random column or the next that has such a link.
void move_link_to(std::uint32_t row, std::uint32_t random, Columns& columns,
                  std::vector<std::size_t>& per_row) {
    for (std::size_t j = random;; j = (j + 1) % columns.size())
        for (std::uint32_t& link : columns[j])
            if (per_row[link] > 1) {
                --per_row[link];
                ++per_row[row];
                link = row;
                std::sort(columns[j].begin(), columns[j].end());
                return;
            }
}

}  // namespace

Structure random_mask(std::size_t m, std::size_t n, double density, std::uint64_t seed) {
    if (!(density > 0.0 && density <= 1.0))
        fail_usage(fmt::format("mask_density {} is not in (0, 1]", density),
                   "give the share of links, 0.1 for example");
    Structure::dense(m, n);  // refuses sizes that no matrix has
    Columns columns(n);
    std::vector<bool> row_seen(m, false);
    for (std::size_t j = 0; j < n; ++j) {
        Stream stream(seed, Purpose::mask, j);
        for (std::uint32_t i = 0; i < m; ++i)
            if (stream.bernoulli(density)) columns[j].push_back(i);
        if (columns[j].empty()) columns[j].push_back(stream.below(static_cast<std::uint32_t>(m)));
        for (const std::uint32_t i : columns[j]) row_seen[i] = true;
    }
    for (std::uint32_t i = 0; i < m; ++i) {
        if (row_seen[i]) continue;
        auto& column =
            columns[Stream(seed, Purpose::mask, n + i).below(static_cast<std::uint32_t>(n))];
        column.insert(std::lower_bound(column.begin(), column.end(), i), i);
    }
    return mask_of(m, columns);
}

Structure random_columns(std::size_t m, std::size_t n, std::optional<std::size_t> given,
                         std::uint64_t seed) {
    const std::size_t ones = given.value_or(std::min(m, kOnesPerColumn));
    if (ones == 0 || ones > m)
        fail_usage(fmt::format("{} ones per column, but a column has {} rows", ones, m),
                   fmt::format("set SyntheticSpec::ones_per_column to at most {}", m));
    if (static_cast<double>(ones) * static_cast<double>(n) < static_cast<double>(m))
        fail_usage(fmt::format("{} ones in each of {} columns leave rows of {} empty", ones, n, m),
                   "raise SyntheticSpec::ones_per_column, or take fewer measurements");
    Structure::dense(m, n);  // refuses sizes that no matrix has
    Columns columns(n);
    std::vector<std::size_t> per_row(m, 0);
    for (std::size_t j = 0; j < n; ++j) {
        Stream stream(seed, Purpose::mask, j);
        // Floyd's choice of `ones` out of m: as many draws as links.
        auto& column = columns[j];
        for (std::size_t i = m - ones; i < m; ++i) {
            auto row = stream.below(static_cast<std::uint32_t>(i + 1));
            if (std::find(column.begin(), column.end(), row) != column.end())
                row = static_cast<std::uint32_t>(i);
            column.push_back(row);
            ++per_row[row];
        }
        std::sort(column.begin(), column.end());
    }
    for (std::uint32_t i = 0; i < m; ++i)
        if (per_row[i] == 0)
            move_link_to(i, Stream(seed, Purpose::mask, n + i).below(static_cast<std::uint32_t>(n)),
                         columns, per_row);
    return mask_of(m, columns);
}

}  // namespace pibinn
