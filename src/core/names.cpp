#include "core/names.hpp"

#include <numeric>
#include <utility>

namespace pibinn {

namespace {

/// Insertions, deletions, replacements and swaps of neighbours, each of which counts once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, last, row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        before = std::exchange(last, row);
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
                row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<const std::string_view> candidates) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string hint_for_unknown(std::string_view word, std::span<const std::string_view> candidates) {
    if (const std::string near = nearest_name(word, candidates); !near.empty())
        return "did you mean '" + near + "'?";
    std::string list = "choose one of ";
    for (std::size_t i = 0; i < candidates.size(); ++i)
        list += (i ? ", " : "") + std::string(candidates[i]);
    return list;
}

}  // namespace pibinn
