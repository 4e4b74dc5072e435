#include "pibinn/structure_finder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

using Order = std::vector<std::uint32_t>;
using Shapes = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t kMostNamed = 5;

/// Columns that share a row, as a forest whose roots name the components.
class Components {
public:
    explicit Components(std::size_t columns) : parent_(columns), count_(columns) {
        std::iota(parent_.begin(), parent_.end(), 0U);
    }

    std::size_t count() const { return count_; }
    std::uint32_t root(std::uint32_t j) {
        while (parent_[j] != j) j = parent_[j] = parent_[parent_[j]];
        return j;
    }
    void join(std::uint32_t a, std::uint32_t b) {
        a = root(a);
        b = root(b);
        if (a == b) return;
        parent_[std::max(a, b)] = std::min(a, b);
        --count_;
    }

private:
    Order parent_;
    std::size_t count_;
};

/// What one pass over the matrix collects. The matrix may be large, so there is one pass, by rows.
struct Scan {
    explicit Scan(MatrixView<const float> a)
        : components(a.cols), first(a.rows), last(a.rows), per_column(a.cols) {
        const auto n = static_cast<std::uint32_t>(a.cols);
        for (std::size_t i = 0; i < a.rows; ++i) {
            const auto row = a.row(i);
            first[i] = n;
            for (std::uint32_t j = 0; j < n; ++j) {
                if (row[j] == 0.0F) continue;
                if (first[i] == n)
                    first[i] = j;
                else if (components.count() > 1)
                    components.join(first[i], j);
                last[i] = j;
                ++per_column[j];
            }
        }
    }

    Components components;
    Order first, last;  ///< the first and the last non-zero column of each row
    Order per_column;   ///< non-zero entries
};

/// Refuses empty rows or columns and names the first few.
void refuse_empty(const char* noun, const std::vector<std::size_t>& empty, const char* hint) {
    if (empty.empty()) return;
    std::string names;
    for (std::size_t e = 0; e < std::min(empty.size(), kMostNamed); ++e)
        names += fmt::format("{}{}", e ? ", " : "", empty[e]);
    if (empty.size() > kMostNamed) names += fmt::format(" and {} more", empty.size() - kMostNamed);
    fail_input(fmt::format("{} {} {} nothing but zeros", noun, names,
                           empty.size() == 1 ? "holds" : "hold"),
               hint);
}

void refuse_empty(const Scan& scan) {
    std::vector<std::size_t> rows, cols;
    const std::size_t n = scan.per_column.size();
    for (std::size_t i = 0; i < scan.first.size(); ++i)
        if (scan.first[i] == n) rows.push_back(i);
    for (std::size_t j = 0; j < n; ++j)
        if (scan.per_column[j] == 0) cols.push_back(j);
    refuse_empty("measurement (row)", rows,
                 "a measurement that sees no signal entry carries nothing; remove the row");
    refuse_empty("signal entry (column)", cols,
                 "an entry no measurement sees cannot be recovered; remove the column");
}

/// The finest blocks on the diagonal in the given order: one ends after row i where no later row
/// reaches back to the columns of the earlier ones.
Shapes blocks_as_given(const Scan& scan) {
    const std::size_t m = scan.first.size();
    std::vector<std::uint32_t> first_after(m + 1,
                                           static_cast<std::uint32_t>(scan.per_column.size()));
    for (std::size_t i = m; i-- > 0;) first_after[i] = std::min(first_after[i + 1], scan.first[i]);
    Shapes shapes;
    std::size_t row = 0;
    std::size_t col = 0;
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < m; ++i) {
        last = std::max(last, scan.last[i]);
        if (last >= first_after[i + 1]) continue;
        shapes.emplace_back(i + 1 - row, last + 1 - col);
        row = i + 1;
        col = last + 1;
    }
    return shapes;
}

/// Component by component, in the order of their first rows.
struct Gathered {
    Order rows, cols;
    Shapes shapes;
};

Gathered gather_components(Scan& scan) {
    const std::size_t m = scan.first.size();
    const std::size_t n = scan.per_column.size();
    std::vector<std::size_t> rank(n, n);  // of the component with this root
    Gathered g;
    std::vector<std::size_t> row_rank(m), col_rank(n);
    for (std::size_t i = 0; i < m; ++i) {
        std::size_t& of_root = rank[scan.components.root(scan.first[i])];
        if (of_root == n) {
            of_root = g.shapes.size();
            g.shapes.emplace_back(0, 0);
        }
        row_rank[i] = of_root;
        ++g.shapes[of_root].first;
    }
    for (std::size_t j = 0; j < n; ++j) {
        col_rank[j] = rank[scan.components.root(static_cast<std::uint32_t>(j))];
        ++g.shapes[col_rank[j]].second;
    }
    const auto sorted_by = [](const std::vector<std::size_t>& key) {
        Order order(key.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
        return order;
    };
    g.rows = sorted_by(row_rank);
    g.cols = sorted_by(col_rank);
    return g;
}

/// The least number of neighbouring blocks that repeat all along the diagonal; all of them where
/// nothing repeats.
std::size_t period(MatrixView<const float> a, const Order& rows, const Order& cols,
                   const Structure& blocks) {
    const auto diagonal = blocks.diagonal();
    const auto equal = [&](const Block& p, const Block& q) {
        if (p.rows != q.rows || p.cols != q.cols) return false;
        for (std::size_t i = 0; i < p.rows; ++i)
            for (std::size_t j = 0; j < p.cols; ++j)
                if (a(rows[p.row + i], cols[p.col + j]) != a(rows[q.row + i], cols[q.col + j]))
                    return false;
        return true;
    };
    for (std::size_t g = 1; g < diagonal.size(); ++g) {
        if (diagonal.size() % g != 0) continue;
        bool repeats = true;
        for (std::size_t b = g; b < diagonal.size() && repeats; ++b)
            repeats = equal(diagonal[b - g], diagonal[b]);
        if (repeats) return g;
    }
    return diagonal.size();
}

void add_block_fits(MatrixView<const float> a, const Shapes& shapes, bool reordered,
                    StructureFinding& finding) {
    if (shapes.size() < 2) return;
    const Structure blocks = Structure::blocks(shapes);
    const std::size_t g = period(a, finding.rows, finding.cols, blocks);
    if (g < shapes.size()) {
        const Block& next = blocks.diagonal()[g];
        finding.fits.push_back(
            {Structure::repeated(next.row, next.col, shapes.size() / g), reordered});
    }
    finding.fits.push_back({blocks, reordered});
}

Structure mask_of(MatrixView<const float> a, const Scan& scan) {
    std::vector<std::uint32_t> offsets(a.cols + 1, 0);
    std::partial_sum(scan.per_column.begin(), scan.per_column.end(), offsets.begin() + 1);
    std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
    std::vector<std::uint32_t> rows(offsets.back());
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t j = scan.first[i]; j <= scan.last[i]; ++j)
            if (a(i, j) != 0.0F) rows[next[j]++] = static_cast<std::uint32_t>(i);
    return Structure::mask(a.rows, a.cols, std::move(offsets), std::move(rows));
}

Order given_order(std::size_t count) {
    Order order(count);
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

}  // namespace

double StructureFinding::density() const {
    return static_cast<double>(nonzeros) / (static_cast<double>(m) * static_cast<double>(n));
}

StructureFinding find_structure(MatrixView<const float> a) {
    StructureFinding finding;
    finding.m = a.rows;
    finding.n = a.cols;
    finding.fits.push_back({Structure::dense(a.rows, a.cols), false});
    Scan scan(a);
    refuse_empty(scan);
    for (const std::uint32_t count : scan.per_column) finding.nonzeros += count;

    finding.rows = given_order(a.rows);
    finding.cols = given_order(a.cols);
    const Shapes given = blocks_as_given(scan);
    add_block_fits(a, given, false, finding);
    if (scan.components.count() > given.size()) {
        Gathered gathered = gather_components(scan);
        finding.rows = std::move(gathered.rows);
        finding.cols = std::move(gathered.cols);
        add_block_fits(a, gathered.shapes, true, finding);
    }
    if (finding.nonzeros < a.rows * a.cols) finding.fits.push_back({mask_of(a, scan), false});
    return finding;
}

void clear_below(MatrixView<float> a, float threshold) {
    for (std::size_t i = 0; i < a.rows; ++i)
        for (float& v : a.row(i))
            if (std::abs(v) < threshold) v = 0;
}

Matrix<float> reordered(MatrixView<const float> a, std::span<const std::uint32_t> rows,
                        std::span<const std::uint32_t> cols) {
    Matrix<float> to(rows.size(), cols.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < cols.size(); ++j) to(i, j) = a(rows[i], cols[j]);
    return to;
}

}  // namespace pibinn
