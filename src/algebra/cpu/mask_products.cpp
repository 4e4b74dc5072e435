#include "algebra/cpu/mask_products.hpp"

#include <algorithm>
#include <numeric>

#include "algebra/cpu/dense_kernels.hpp"
#include "algebra/cpu/mask_kernels.hpp"
#include "algebra/cpu/row_kernels.hpp"

namespace pibinn::cpu {

MaskProducts::MaskProducts(const Block& block)
    : block_(block), offsets_(block.rows + 1, 0), columns_(block.links()), links_(block.links()) {
    for (const std::uint32_t row : block.row_indices) ++offsets_[row + 1];
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    std::vector<std::uint32_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::uint32_t j = 0; j < block.cols; ++j)
        for (std::uint32_t l = block.offsets[j]; l < block.offsets[j + 1]; ++l) {
            const std::uint32_t at = next[block.row_indices[l]]++;
            columns_[at] = j;
            links_[at] = l;
        }
}

void MaskProducts::lay_out(std::span<const float> links, std::span<float> by_measurement) const {
    for (std::size_t e = 0; e < links_.size(); ++e) by_measurement[e] = links[links_[e]];
}

std::size_t MaskProducts::set_side_by_side(std::size_t rows, std::size_t count, const float* from,
                                           Rows& to) {
    const std::size_t stride = padded(rows);
    to.resize(std::max(to.size(), count * stride));
    if (stride != rows) std::fill_n(to.begin(), count * stride, 0.0F);
    transpose(rows, count, from, padded(count), to.data(), stride);
    return stride;
}

void MaskProducts::dots(std::size_t rows, const float* v, const float* links, float* q) {
    const std::size_t stride = set_side_by_side(rows, block_.rows, v, by_measurement_);
    by_entry_.resize(std::max(by_entry_.size(), block_.cols * stride));
    link_sums({block_.cols, block_.offsets.data(), block_.row_indices.data(), stride}, links,
              by_measurement_.data(), by_entry_.data());
    transpose(block_.cols, rows, by_entry_.data(), stride, q, padded(block_.cols));
}

void MaskProducts::gather(std::size_t rows, const float* c, const float* by_measurement, float* v) {
    const std::size_t stride = set_side_by_side(rows, block_.cols, c, by_entry_);
    by_measurement_.resize(std::max(by_measurement_.size(), block_.rows * stride));
    link_sums({block_.rows, offsets_.data(), columns_.data(), stride}, by_measurement,
              by_entry_.data(), by_measurement_.data());
    transpose(block_.rows, rows, by_measurement_.data(), stride, v, padded(block_.rows));
}

void MaskProducts::outer(std::size_t rows, const float* c, const float* v, std::span<float> dw,
                         Into into) {
    set_side_by_side(rows, block_.cols, c, by_entry_);
    const std::size_t stride = set_side_by_side(rows, block_.rows, v, by_measurement_);
    dw_.assign(links_.size(), 0.0F);
    link_outer({block_.rows, offsets_.data(), columns_.data(), stride}, by_measurement_.data(),
               by_entry_.data(), dw_.data());
    for (std::size_t e = 0; e < links_.size(); ++e)
        dw[links_[e]] = into == Into::add ? dw[links_[e]] + dw_[e] : dw_[e];
}

}  // namespace pibinn::cpu
