#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "pibinn/structure.hpp"

namespace pibinn {

/// Where the four numbers of a complex link stand: a = Re and b = Im in the left half of the
/// columns, -b and a in the right half. What is stored once is the left half, `shared_links()`.
struct ComplexPlaces {
    explicit ComplexPlaces(const Structure& s)
        : half_rows(s.parts()[0].rows / 2), half_cols(s.parts()[0].cols / 2), twin(s.links() / 2) {}

    /// Calls visit(a, b, -b, a), the four places, for every complex link.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t j = 0; j < half_cols; ++j)
            for (std::size_t i = 0; i < half_rows; ++i) {
                const std::size_t re = j * 2 * half_rows + i, im = re + half_rows;
                visit(re, im, twin + re, twin + im);
            }
    }

    std::size_t half_rows, half_cols;
    std::size_t twin;  ///< distance of the right half
};

/// Makes the right half of a complex block from its left half. Other structures stay as they are.
template <class T>
void complete_complex(const Structure& s, std::span<T> values) {
    if (!s.is_complex()) return;
    ComplexPlaces(s).for_each(
        [&](std::size_t re, std::size_t im, std::size_t minus_im, std::size_t re_again) {
            values[re_again] = values[re];
            values[minus_im] = T{0} - values[im];  // no negative zeros
        });
}

/// The first place of the left half whose twin is another number; nothing where all fit.
template <class T>
std::optional<std::size_t> unpaired_link(const Structure& s, std::span<const T> values) {
    std::optional<std::size_t> found;
    if (!s.is_complex()) return found;
    ComplexPlaces(s).for_each(
        [&](std::size_t re, std::size_t im, std::size_t minus_im, std::size_t re_again) {
            if (!found && (values[re] != values[re_again] || values[im] != -values[minus_im]))
                found = re;
        });
    return found;
}

}  // namespace pibinn
