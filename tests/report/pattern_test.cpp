#include "report/pattern.hpp"

#include <filesystem>
#include <numeric>

#include <unistd.h>

#include <gtest/gtest.h>

#include "core/file.hpp"
#include "pibinn/operator.hpp"
#include "report/helpers.hpp"

namespace pibinn {
namespace {

TEST(PatternGrid, OfASmallStructureIsItsLinks) {
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{1, 2}, {2, 1}};
    const PatternGrid grid = pattern_of(Structure::blocks(shapes));
    EXPECT_EQ(grid.m, 3u);
    EXPECT_EQ(grid.n, 3u);
    Matrix<double> expected(3, 3);
    expected(0, 0) = expected(0, 1) = expected(1, 2) = expected(2, 2) = 1;
    EXPECT_EQ(grid.share, expected);
}

TEST(PatternGrid, OfALargeStructureIsTheShareOfEachCell) {
    for (const std::size_t u : {100, 513}) {
        const Structure s = Structure::repeated(5, 7, u);
        const PatternGrid grid = pattern_of(s);
        EXPECT_EQ(grid.share.rows(), std::min<std::size_t>(5 * u, PatternGrid::most_cells));
        EXPECT_EQ(grid.share.cols(), PatternGrid::most_cells);
        double largest = 0;
        for (const double v : grid.share.values()) {
            EXPECT_GE(v, 0);
            EXPECT_LE(v, 1);
            largest = std::max(largest, v);
        }
        EXPECT_GT(largest, 0.4);
        EXPECT_EQ(grid.share(0, grid.share.cols() - 1), 0);
    }
    // A full matrix has full cells, of whatever sizes its 300 rows fall into.
    const PatternGrid full = pattern_of(Structure::dense(300, 257));
    for (const double v : full.share.values()) EXPECT_EQ(v, 1);
}

TEST(PatternGrid, OfAMatrixFollowsTheOrder) {
    Matrix<float> a(2, 3);
    a(0, 2) = -4;
    a(1, 0) = 1;
    const std::vector<std::uint32_t> rows{1, 0}, cols{0, 2, 1};
    Matrix<double> expected(2, 3);
    expected(0, 0) = expected(1, 1) = 1;
    EXPECT_EQ(pattern_of(a, rows, cols).share, expected);
}

TEST(PatternPicture, DrawsEveryPanelWithItsTitleAsItIs) {
    const std::vector<PatternPanel> panels{
        {"as 'given' `touch x`", pattern_of(Structure::dense(1, 1))},
        {"reordered", pattern_of(Structure::repeated(50, 100, 100))},
        {"a row", pattern_of(Structure::dense(1, 9))},
        {"a column", pattern_of(Structure::dense(9, 1))}};
    const std::string svg = pattern_svg(panels);
    EXPECT_TRUE(contains(svg, "</svg>"));
    EXPECT_TRUE(contains(svg, "as 'given' `touch x`<"));
    EXPECT_TRUE(contains(svg, "reordered<"));
    EXPECT_EQ(count(svg, "signal entry (column)<"), 4u);
    EXPECT_EQ(count(svg, "data:image/png;base64"), 4u);
    EXPECT_EQ(count(svg, "<image style='image-rendering:pixelated' "), 4u);
    EXPECT_TRUE(contains(svg, "> 10000<"));
}

TEST(PatternPicture, CanBeAPngFile) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("pibinn_pattern_" + std::to_string(::getpid()) + ".png");
    const std::vector<PatternPanel> panels{{"mask", pattern_of(Structure::dense(3, 4))}};
    pattern_png(panels, path);
    EXPECT_EQ(read_file(path).substr(0, 8), "\x89PNG\r\n\x1a\n");
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace pibinn
