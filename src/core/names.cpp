#include "core/names.hpp"

#include <numeric>

namespace pibinn {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
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
