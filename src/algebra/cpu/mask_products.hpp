#pragma once

#include <span>
#include <vector>

#include "algebra/backend.hpp"

namespace pibinn::cpu {

/// The products of a mask. Each costs its links, whatever the supports: rows of the batch are set
/// side by side first, and a link is then a few vector operations for all of them. Following the
/// supports link by link and signal by signal was measured 3 to 5 times slower on 64 signals, and
/// slower than the dense product that it was to spare.
class MaskProducts {
public:
    explicit MaskProducts(const Block& block);

    /// Links in the order of the measurements, for `gather`.
    void lay_out(std::span<const float> links, std::span<float> by_measurement) const;

    /// q = v W; W in link order.
    void dots(std::size_t rows, const float* v, const float* links, float* q);
    /// v = c W^T
    void gather(std::size_t rows, const float* c, const float* by_measurement, float* v);
    /// c^T v into `dw`, in link order.
    void outer(std::size_t rows, const float* c, const float* v, std::span<float> dw, Into into);

private:
    using Rows = AlignedBuffer<float>;

    /// Sets `rows` rows of `count` numbers side by side; answers the distance between two entries.
    static std::size_t set_side_by_side(std::size_t rows, std::size_t count, const float* from,
                                        Rows& to);

    Block block_;
    std::vector<std::uint32_t> offsets_;  ///< of the links by measurement
    std::vector<std::uint32_t> columns_;  ///< of each of them
    std::vector<std::uint32_t> links_;    ///< its number in link order
    Rows by_entry_, by_measurement_;      ///< signals and measurements, side by side
    Rows dw_;                             ///< a gradient, by measurement
};

}  // namespace pibinn::cpu
