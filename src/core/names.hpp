#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pibinn/error.hpp"

namespace pibinn {

/// The candidate nearest to a mistyped word, or empty when none is near (edit distance over 1/3).
std::string nearest_name(std::string_view word, std::span<const std::string_view> candidates);

/// A hint for an unknown word: "did you mean 'X'?" or the list of what exists.
std::string hint_for_unknown(std::string_view word, std::span<const std::string_view> candidates);

/// The words by which users name the values of an enum.
template <class Enum, std::size_t N>
using NameTable = std::array<std::pair<Enum, std::string_view>, N>;

template <class Enum, std::size_t N>
std::string_view name_of(const NameTable<Enum, N>& table, Enum value) {
    for (const auto& [v, name] : table)
        if (v == value) return name;
    return "?";
}

template <class Enum, std::size_t N>
Enum parse_name(const NameTable<Enum, N>& table, std::string_view word, std::string_view what) {
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) {
        if (table[i].second == word) return table[i].first;
        names[i] = table[i].second;
    }
    fail_usage("unknown " + std::string(what) + " '" + std::string(word) + "'",
               hint_for_unknown(word, names));
}

}  // namespace pibinn
