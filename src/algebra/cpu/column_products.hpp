#pragma once

#include <optional>
#include <span>

#include "algebra/backend.hpp"
#include "algebra/cpu/mask_products.hpp"
#include "algebra/cpu/row_kernels.hpp"

namespace pibinn::cpu {

/// The links of one block, laid out for the kernels, and the four products a layer needs of them.
/// A full block is kept in two layouts: n padded columns of m, and for the products that ask for
/// every output, m padded rows of n. A mask is a list of links, in link order instead of the rows
/// and by measurement instead of the columns. Each product of a full block takes the sparse way
/// (supports only) or the dense one (matrix product), whichever costs less.
class ColumnProducts {
public:
    explicit ColumnProducts(const Block& block);

    std::size_t m() const { return block_.rows; }
    std::size_t n() const { return block_.cols; }
    std::size_t m_stride() const { return padded(block_.rows); }
    std::size_t n_stride() const { return padded(block_.cols); }
    /// Floats of a laid out block, in either layout.
    std::size_t size() const;

    void lay_out(std::span<const float> links, std::span<float> columns) const;
    void lay_out_rows(std::span<const float> links, std::span<float> by_row) const;

    /// q = v W: all outputs, whether they survive the threshold or not. W by row.
    void all_dots(std::size_t rows, const float* v, const float* by_row, float* q);
    /// v = c W^T - minus over the supports of c; `minus` may be null.
    void gather(std::size_t rows, const float* c, Supports s, const float* w, const float* minus,
                float* v);
    /// c^T v into `dw`, one number a link.
    void outer(std::size_t rows, const float* c, Supports s, const float* v, std::span<float> dw,
               Into into);
    /// c = v W at the supports only; other entries of c are left undefined. W in both layouts.
    void support_dots(std::size_t rows, const float* v, Supports s, const float* w,
                      const float* by_row, float* c);

private:
    /// Whether more than `percent` of the entries are in the supports.
    bool denser_than(std::size_t percent, std::size_t rows, const Supports& s) const;
    /// Beyond the cache a BLAS, which packs and blocks, is faster than our own product.
    bool in_cache() const;
    ColumnArgs column_args(std::size_t rows, const Supports& s) const;

    Block block_;
    std::optional<MaskProducts> mask_;  ///< of a block that is not full
};

}  // namespace pibinn::cpu
