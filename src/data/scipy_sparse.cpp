#include "data/scipy_sparse.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "data/bytes.hpp"
#include "data/claims.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// Members of such an archive, as scipy.sparse.save_npz writes them: format and shape always; data,
// indices and indptr of csr and csc; data, row and col of coo; data and offsets of dia.
constexpr std::string_view kSparseFormats = "csr, csc, coo and dia";

class Reader {
public:
    explicit Reader(const NpzArchive& archive) : archive_(archive) {
        const std::vector<std::int64_t> shape = integers("shape");
        if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] >= kMost ||
            shape[1] >= kMost)
            fail(fmt::format("its shape is ({})", fmt::join(shape, ", ")));
        rows_ = static_cast<std::size_t>(shape[0]);
        cols_ = static_cast<std::size_t>(shape[1]);
        require_sparse_claim(cols_, archive.bytes.size(), archive.where);
    }

    SparseMatrix read() {
        const std::string format = archive_.read_text("format");
        std::vector<SparseEntry> entries;
        if (format == "csr" || format == "csc")
            entries = compressed(format == "csr");
        else if (format == "coo")
            entries = triplets();
        else if (format == "dia")
            entries = diagonals();
        else
            fail_input(fmt::format("'{}' is a sparse matrix of format {}; {} are read",
                                   archive_.where, shown(format), kSparseFormats),
                       "save it as csr: scipy.sparse.save_npz(path, matrix.tocsr())");
        return SparseMatrix::from_entries(rows_, cols_, std::move(entries), archive_.where,
                                          numbers_);
    }

private:
    static constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();

    [[noreturn]] void fail(const std::string& why) const {
        fail_input(fmt::format("'{}' is a damaged sparse matrix: {}", archive_.where, why),
                   "save it again with scipy.sparse.save_npz");
    }
    std::vector<std::int64_t> integers(std::string_view name) const {
        return archive_.read_integers(name);
    }
    UserArray values() {
        UserArray data = archive_.read("data", Digits::all);
        if (data.complex()) numbers_ = Numbers::complex;
        return data;
    }
    /// An index that is within the matrix, or an error.
    std::uint32_t index(std::int64_t value, std::size_t length, std::string_view name) const {
        if (value < 0 || static_cast<std::uint64_t>(value) >= length)
            fail(fmt::format("{} has {}, but the matrix is {} x {}", name, value, rows_, cols_));
        return static_cast<std::uint32_t>(value);
    }
    /// The entry at a place that has number k of an array in the order of its rows.
    static SparseEntry entry(std::uint32_t row, std::uint32_t col, const UserArray& array,
                             std::size_t k) {
        const std::size_t i = k / array.entries(), j = k % array.entries();
        if (!array.complex()) return {row, col, array(i, j)};
        return {row, col, array(i, 2 * j), array(i, 2 * j + 1)};
    }
    static std::size_t count(const UserArray& array) { return array.rows() * array.entries(); }
    void require_equal(std::size_t a, std::size_t b, std::string_view what) const {
        if (a != b) fail(fmt::format("{} has {} numbers, data {}", what, a, b));
    }

    /// csr: the entries of row i are those of indptr[i] .. indptr[i + 1] - 1; csc: of column i.
    std::vector<SparseEntry> compressed(bool by_row) {
        const UserArray data = values();
        const std::vector<std::int64_t> indices = integers("indices");
        const std::vector<std::int64_t> starts = integers("indptr");
        const std::size_t lines = by_row ? rows_ : cols_;
        require_equal(indices.size(), count(data), "indices");
        if (starts.size() != lines + 1)
            fail(fmt::format("indptr has {} numbers for {} {}", starts.size(), lines,
                             by_row ? "rows" : "columns"));
        if (starts.front() != 0) fail(fmt::format("indptr starts with {}", starts.front()));
        if (starts.back() > static_cast<std::int64_t>(count(data)))
            fail(fmt::format("indptr ends at {} of {} entries", starts.back(), count(data)));
        std::vector<SparseEntry> entries;
        entries.reserve(count(data));
        for (std::size_t i = 0; i < lines; ++i) {
            if (starts[i + 1] < starts[i] || starts[i + 1] > starts.back())
                fail(fmt::format("indptr goes from {} to {}", starts[i], starts[i + 1]));
            for (auto k = static_cast<std::size_t>(starts[i]);
                 k < static_cast<std::size_t>(starts[i + 1]); ++k) {
                const auto line = static_cast<std::uint32_t>(i);
                const std::uint32_t other = index(indices[k], by_row ? cols_ : rows_, "indices");
                entries.push_back(entry(by_row ? line : other, by_row ? other : line, data, k));
            }
        }
        return entries;
    }

    std::vector<SparseEntry> triplets() {
        const UserArray data = values();
        const std::vector<std::int64_t> rows = integers("row");
        const std::vector<std::int64_t> cols = integers("col");
        require_equal(rows.size(), count(data), "row");
        require_equal(cols.size(), count(data), "col");
        std::vector<SparseEntry> entries;
        entries.reserve(count(data));
        for (std::size_t k = 0; k < count(data); ++k)
            entries.push_back(
                entry(index(rows[k], rows_, "row"), index(cols[k], cols_, "col"), data, k));
        return entries;
    }

    /// Row d of data is a diagonal: its number j stands in column j, at row j - offsets[d].
    std::vector<SparseEntry> diagonals() {
        const UserArray data = values();
        const std::vector<std::int64_t> offsets = integers("offsets");
        if (offsets.size() != data.rows())
            fail(fmt::format("offsets has {} numbers for {} diagonals", offsets.size(),
                             data.rows()));
        std::vector<SparseEntry> entries;
        for (std::size_t d = 0; d < data.rows(); ++d) {
            if (offsets[d] < -kMost || offsets[d] > kMost)
                fail(fmt::format("offsets has {}", offsets[d]));
            for (std::size_t j = 0; j < std::min(data.entries(), cols_); ++j) {
                const std::int64_t i = static_cast<std::int64_t>(j) - offsets[d];
                if (i >= 0 && i < static_cast<std::int64_t>(rows_))
                    entries.push_back(entry(static_cast<std::uint32_t>(i),
                                            static_cast<std::uint32_t>(j), data,
                                            d * data.entries() + j));
            }
        }
        return entries;
    }

    const NpzArchive& archive_;
    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
    Numbers numbers_ = Numbers::real;
};

}  // namespace

std::optional<SparseMatrix> read_scipy_sparse(const NpzArchive& archive) {
    for (const char* name : {"format", "shape", "data"})
        if (!archive.has(name)) return std::nullopt;
    return Reader(archive).read();
}

}  // namespace pibinn
