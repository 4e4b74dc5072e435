// room: algebra
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pibinn {

enum class StructureKind { dense, repeated, blocks, mask };

std::string_view to_string(StructureKind kind);
StructureKind parse_structure_kind(std::string_view name);

/// One diagonal block of the m x n matrix, or a whole mask. Its links are numbered column by
/// column, from `first_link` on.
struct Block {
    std::size_t row = 0;
    std::size_t col = 0;
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::size_t first_link = 0;
    /// The pattern of a mask, as in Structure::mask; both empty for a full block. The structure
    /// owns them.
    std::span<const std::uint32_t> offsets = {};
    std::span<const std::uint32_t> row_indices = {};

    bool full() const { return offsets.empty(); }
    std::size_t links() const { return full() ? rows * cols : row_indices.size(); }
    /// The links of column j are column_begin(j) .. column_begin(j + 1) - 1, counted from
    /// `first_link`.
    std::size_t column_begin(std::size_t j) const { return full() ? j * rows : offsets[j]; }
    /// The same place and shape; patterns are compared by Structure.
    bool operator==(const Block& other) const {
        return row == other.row && col == other.col && rows == other.rows && cols == other.cols &&
               first_link == other.first_link;
    }
};

/// Which links of an m x n matrix exist. Off-structure weights do not exist: they are not stored,
/// not trained, not counted. The operator and the weights of every layer share one structure.
///
/// Links are numbered by signal entry (column), then by measurement (row): all the links of one
/// output of a layer stand together. `repeated` numbers the links of one block only, since the
/// same values serve every repetition.
class Structure {
public:
    Structure() = default;

    static Structure dense(std::size_t m, std::size_t n);
    /// I_u (x) A with A of m x n: `u` times the same block.
    static Structure repeated(std::size_t m, std::size_t n, std::size_t u);
    /// Different blocks on the diagonal, each {rows, cols}.
    static Structure blocks(std::span<const std::pair<std::size_t, std::size_t>> shapes);
    /// Any pattern: the links of column j are rows[offsets[j]] .. rows[offsets[j + 1] - 1],
    /// ascending. Every row and every column must have at least one link.
    static Structure mask(std::size_t m, std::size_t n, std::vector<std::uint32_t> offsets,
                          std::vector<std::uint32_t> rows);

    /// A complex m x n matrix C that acts on complex vectors held as real and imaginary parts,
    /// [[Re C, -Im C], [Im C, Re C]], `u` times. Each complex entry stands twice in the block;
    /// `shared_links` counts it once.
    static Structure complex(std::size_t m, std::size_t n, std::size_t u = 1);
    /// The same of a complex matrix with the links of a pattern, `blocks` or `mask` of m x n: a
    /// mask of 2m x 2n. Without `imaginary` parts the matrix is real and acts on both parts of
    /// complex vectors, [[C, 0], [0, C]], with its links shared.
    static Structure complex_mask(const Structure& pattern, bool imaginary = true);

    StructureKind kind() const { return kind_; }
    /// Whether entries (i, j) and (i + m/2, j + n/2) of the block are one number, and the other two
    /// of the four its negative and itself: what is stored and trained once.
    bool is_complex() const { return complex_; }
    /// Whether a complex structure has links for imaginary parts. In each column of its left half
    /// these follow the real ones.
    bool has_imaginary() const { return imaginary_; }
    /// Of a complex mask the pattern that it was made of; null otherwise.
    const Structure* complex_pattern() const { return complex_pattern_.get(); }
    std::size_t rows() const { return rows_; }    ///< m, of the whole matrix
    std::size_t cols() const { return cols_; }    ///< n, of the whole matrix
    std::size_t links() const { return links_; }  ///< values stored: one block's for `repeated`
    /// Numbers that differ: half of the links where these are complex.
    std::size_t shared_links() const { return complex_ ? links_ / 2 : links_; }
    std::size_t repeat() const { return repeat_; }  ///< u; 1 unless `repeated`

    /// The blocks of one repetition that never meet: those on the diagonal, or one that is the
    /// whole mask.
    std::span<const Block> parts() const { return blocks_; }
    /// The same without a mask, which has no full blocks.
    std::span<const Block> diagonal() const {
        return pattern_ ? std::span<const Block>{} : std::span<const Block>(blocks_);
    }
    /// The pattern of `mask`; empty otherwise.
    std::span<const std::uint32_t> offsets() const;
    std::span<const std::uint32_t> row_indices() const;

    /// Calls visit(row, col, link) for every link of the whole matrix (repetitions included).
    template <class Visit>
    void for_each_link(Visit&& visit) const;

    bool operator==(const Structure& other) const;

private:
    struct Pattern {
        std::vector<std::uint32_t> offsets;
        std::vector<std::uint32_t> rows;
        bool operator==(const Pattern&) const = default;
    };

    StructureKind kind_ = StructureKind::dense;
    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
    std::size_t links_ = 0;
    std::size_t repeat_ = 1;
    bool complex_ = false;
    bool imaginary_ = false;
    std::vector<Block> blocks_;
    std::shared_ptr<const Pattern> pattern_;
    std::shared_ptr<const Structure> complex_pattern_;
};

/// Calls visit(first, second, sign) for the two links that hold one number of a complex structure:
/// the second is `sign` times the first, which stands in the first half of the columns.
template <class Visit>
void for_each_pair(const Structure& structure, Visit&& visit) {
    if (!structure.is_complex()) return;
    const Block& block = structure.parts()[0];
    const std::size_t half = block.links() / 2;
    for (std::size_t j = 0; j < block.cols / 2; ++j) {
        const std::size_t begin = block.column_begin(j), end = block.column_begin(j + 1);
        const std::size_t each = structure.has_imaginary() ? (end - begin) / 2 : 0;
        const std::size_t parts_begin = end - each;  // of the imaginary parts
        for (std::size_t l = begin; l < parts_begin; ++l) visit(l, half + l + each, 1.0F);
        for (std::size_t l = parts_begin; l < end; ++l) visit(l, half + l - each, -1.0F);
    }
}

template <class Visit>
void Structure::for_each_link(Visit&& visit) const {
    const std::size_t m = rows_ / repeat_;
    const std::size_t n = cols_ / repeat_;
    for (std::size_t u = 0; u < repeat_; ++u)
        for (const Block& b : blocks_)
            for (std::size_t j = 0; j < b.cols; ++j)
                for (std::size_t l = b.column_begin(j); l < b.column_begin(j + 1); ++l) {
                    const std::size_t i = b.full() ? l - j * b.rows : b.row_indices[l];
                    visit(u * m + b.row + i, u * n + b.col + j, b.first_link + l);
                }
}

}  // namespace pibinn
