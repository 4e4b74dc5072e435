#include "algebra/centre.hpp"

#include <algorithm>

namespace pibinn {

namespace {

/// A copy of the links of a full block, after change(column) of each.
template <class Change>
std::vector<float> changed_columns(const Block& block, std::span<const float> links,
                                   const Change& change) {
    std::vector<float> out(links.begin(), links.end());
    for (std::size_t j = 0; j < block.cols; ++j)
        change(std::span(out).subspan(j * block.rows, block.rows));
    return out;
}

void level(std::span<float> column) {
    const auto [least, most] = std::minmax_element(column.begin(), column.end());
    const float low = *least, high = *most;
    const float half = (high - low) / 2, middle = low + half;
    for (float& v : column) v = v == low ? -half : v == high ? half : v - middle;
}

}  // namespace

float centre_of(std::span<const float> values) {
    if (values.empty()) return 0;
    constexpr std::size_t chains = 4;  // one would wait for each addition
    double sums[chains]{};
    std::size_t i = 0;
    for (; i + chains <= values.size(); i += chains)
        for (std::size_t c = 0; c < chains; ++c) sums[c] += values[i + c];
    for (std::size_t c = 0; i < values.size(); ++i, ++c) sums[c] += values[i];
    const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return static_cast<float>(sum / static_cast<double>(values.size()));
}

void centre(std::span<float> values) {
    const float mean = centre_of(values);
    for (float& v : values) v -= mean;
}

std::vector<float> centred_columns(const Block& block, std::span<const float> links) {
    return changed_columns(block, links, centre);
}

std::vector<float> levelled_columns(const Block& block, std::span<const float> links) {
    return changed_columns(block, links, level);
}

}  // namespace pibinn
