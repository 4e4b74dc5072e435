#include "infer/kernels/tile_workspace.hpp"

#include <algorithm>
#include <cstdint>

#include "infer/kernels/kernels.hpp"
#include "infer/kernels/sign_columns.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kLine = 16;  // floats

std::size_t lines(std::size_t count) { return (count + kLine - 1) / kLine * kLine; }

}  // namespace

std::size_t words_at_a_time(const SignLayout& layout, std::size_t width) {
    const std::size_t word = layout.groups_per_word << layout.rows_per_group;
    return std::max<std::size_t>(1, kTableBytes / (word * width * sizeof(float)));
}

TileWorkspace::TileWorkspace(const PackedBlock& block, const SignLayout& layout, std::size_t width,
                             float* workspace) {
    float* at = workspace;
    const auto take = [&at](std::size_t count) {
        float* taken = at;
        at += lines(count);
        return taken;
    };
    const std::size_t rows = block.padded_rows(layout) * width;
    const std::size_t cols = (block.stride + 4) * width;
    y = take(rows);
    e1 = take(rows);
    e2 = take(rows);
    r = take(2 * rows + lines(width));  // masks keep -r behind it, and a row of zeros
    x1 = take(cols);
    x2 = take(cols);
    q = take(cols);
    y_by_signal = take(rows);
    e_by_signal = take(rows);
    const std::size_t words = std::min(block.words, words_at_a_time(layout, width));
    tables = take(words * (layout.groups_per_word << layout.rows_per_group) * width);
    tau = take(width);
    counts = take(width);
    shrink = take(3 * block.piece_stride() * width);
    slopes = take(block.pieces > 0 || block.by_sites ? layout.partial_sums * width : 0);
    energies = take(block.by_sites ? cols : 0);
    sizes = take(block.by_sites ? cols : 0);
    active = reinterpret_cast<std::uint32_t*>(take(block.n));
    support = reinterpret_cast<std::uint32_t*>(take(block.n * width + kLine));
    sign_columns = SignColumnSpace(block, take(sign_column_floats(block)));
    end = at;
}

SignColumnSpace::SignColumnSpace(const PackedBlock& block, float* at)
    : sums(at),
      tables(sums + block.row_blocks() * 64),
      offsets(reinterpret_cast<std::uint32_t*>(tables + kTabledColumns / kGroupColumns * 32)),
      columns(offsets + kTabledColumns) {}

std::size_t sign_column_floats(const PackedBlock& block) {
    if (!block.has_sign_columns()) return 0;
    // A vector may be written behind the last column.
    return lines(block.row_blocks() * 64 + kTabledColumns / kGroupColumns * 32 + kTabledColumns +
                 block.n + kLine);
}

std::size_t vector_signal_floats(const PackedBlock& block, const SignLayout& layout) {
    // Measurements, residual and entries; unless it is plain two misfits and the entries before;
    // and a bit for every column.
    return (block.plain ? 2 : 4) * block.padded_rows(layout) +
           (block.plain ? 1 : 2) * block.stride + lines((block.stride + 31) / 32 + 1);
}

std::size_t vector_support_floats(const PackedBlock& block) {
    const std::size_t lists = (block.n + kListed - 1) / kListed;
    return lines(lists * (kListBytes + sizeof(std::uint8_t*)) / sizeof(float));
}

std::size_t rows_together(const PackedBlock& block) {
    const std::size_t group = block.sites.grouping.rows;
    return group > kInterleave ? group : kInterleave / group * group;
}

std::size_t vector_workspace_floats(const PackedBlock& block, const SignLayout& layout) {
    return std::max(kInterleave, rows_together(block)) *
               (vector_signal_floats(block, layout) + vector_support_floats(block)) +
           block.stride + block.padded_rows(layout) + sign_column_floats(block) +
           (block.by_sites ? 3 * block.stride : 0);  // energies, sizes and gains of sites
}

std::size_t tile_workspace_floats(const PackedBlock& block, const SignLayout& layout) {
    // A start that is no null pointer, which nothing may be subtracted from.
    float* const start =
        reinterpret_cast<float*>(std::uintptr_t{AlignedAllocator<float>::alignment});
    return static_cast<std::size_t>(
        TileWorkspace(block, layout, block.full() ? kTile : kMaskTile, start).end - start);
}

}  // namespace pibinn
