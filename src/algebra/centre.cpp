#include "algebra/centre.hpp"

#include <algorithm>

namespace pibinn {

namespace {

/// Each column less what `level` says of it.
template <class Level>
std::vector<float> less_level(const Block& block, std::span<const float> links,
                              const Level& level) {
    std::vector<float> out(links.begin(), links.end());
    for (std::size_t j = 0; j < block.cols; ++j) {
        const std::span<float> column = std::span(out).subspan(j * block.rows, block.rows);
        const float off = level(std::span<const float>(column));
        for (float& v : column) v -= off;
    }
    return out;
}

}  // namespace

float mean_of(std::span<const float> values) {
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
    const float mean = mean_of(values);
    for (float& v : values) v -= mean;
}

std::vector<float> centred_columns(const Block& block, std::span<const float> links) {
    return less_level(block, links, mean_of);
}

std::vector<float> levelled_columns(const Block& block, std::span<const float> links) {
    return less_level(block, links, [](std::span<const float> column) {
        const auto [low, high] = std::minmax_element(column.begin(), column.end());
        return *low + (*high - *low) / 2;
    });
}

}  // namespace pibinn
