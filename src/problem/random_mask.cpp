#include "problem/random_mask.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/random.hpp"

namespace pibinn {

Structure random_mask(std::size_t m, std::size_t n, double density, std::uint64_t seed) {
    if (!(density > 0.0 && density <= 1.0))
        fail_usage(fmt::format("mask_density {} is not in (0, 1]", density),
                   "give the share of links, 0.1 for example");
    Structure::dense(m, n);  // refuses sizes that no matrix has
    std::vector<std::vector<std::uint32_t>> columns(n);
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
    std::vector<std::uint32_t> offsets{0};
    std::vector<std::uint32_t> rows;
    for (const auto& column : columns) {
        rows.insert(rows.end(), column.begin(), column.end());
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    return Structure::mask(m, n, std::move(offsets), std::move(rows));
}

}  // namespace pibinn
