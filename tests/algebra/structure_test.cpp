#include "pibinn/structure.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

using Link = std::tuple<std::size_t, std::size_t, std::size_t>;  // row, column, number

std::vector<Link> links_of(const Structure& s) {
    std::vector<Link> links;
    s.for_each_link(
        [&](std::size_t i, std::size_t j, std::size_t l) { links.emplace_back(i, j, l); });
    return links;
}

Structure blocks(std::vector<std::pair<std::size_t, std::size_t>> shapes) {
    return Structure::blocks(shapes);
}

/// The message of the error, which must be of the given kind.
template <class Action>
std::string refusal(ErrorKind kind, Action&& action) {
    try {
        action();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), kind);
        EXPECT_FALSE(e.hint().empty());
        return e.message();
    }
    ADD_FAILURE() << "accepted";
    return {};
}

TEST(Structure, DenseLinksAreNumberedColumnByColumn) {
    const Structure s = Structure::dense(2, 3);
    EXPECT_EQ(s.kind(), StructureKind::dense);
    EXPECT_EQ(s.links(), 6u);
    EXPECT_EQ(s.repeat(), 1u);
    EXPECT_EQ(links_of(s), (std::vector<Link>{
                               {0, 0, 0}, {1, 0, 1}, {0, 1, 2}, {1, 1, 3}, {0, 2, 4}, {1, 2, 5}}));
}

TEST(Structure, RepetitionsShareTheirLinks) {
    const Structure s = Structure::repeated(1, 2, 3);
    EXPECT_EQ(s.rows(), 3u);
    EXPECT_EQ(s.cols(), 6u);
    EXPECT_EQ(s.links(), 2u);
    EXPECT_EQ(s.repeat(), 3u);
    EXPECT_EQ(links_of(s), (std::vector<Link>{
                               {0, 0, 0}, {0, 1, 1}, {1, 2, 0}, {1, 3, 1}, {2, 4, 0}, {2, 5, 1}}));
}

TEST(Structure, BlocksFollowEachOtherOnTheDiagonal) {
    const Structure s = blocks({{2, 1}, {1, 2}});
    EXPECT_EQ(s.rows(), 3u);
    EXPECT_EQ(s.cols(), 3u);
    EXPECT_EQ(s.links(), 4u);
    ASSERT_EQ(s.diagonal().size(), 2u);
    EXPECT_EQ(s.diagonal()[1], (Block{.row = 2, .col = 1, .rows = 1, .cols = 2, .first_link = 2}));
    EXPECT_EQ(links_of(s), (std::vector<Link>{{0, 0, 0}, {1, 0, 1}, {2, 1, 2}, {2, 2, 3}}));
}

TEST(Structure, AMaskHasTheLinksItLists) {
    const Structure s = Structure::mask(3, 2, {0, 2, 3}, {0, 2, 1});
    EXPECT_EQ(s.links(), 3u);
    EXPECT_TRUE(s.diagonal().empty());
    EXPECT_EQ(links_of(s), (std::vector<Link>{{0, 0, 0}, {2, 0, 1}, {1, 1, 2}}));
}

TEST(Structure, PartsOfABlockStructureAreItsDiagonal) {
    const Structure s = blocks({{2, 1}, {1, 2}});
    ASSERT_EQ(s.parts().size(), 2u);
    for (const Block& b : s.parts()) EXPECT_TRUE(b.full());
    EXPECT_EQ(s.parts()[1], s.diagonal()[1]);
    EXPECT_EQ(s.parts()[1].links(), 2u);
    EXPECT_EQ(s.parts()[1].column_begin(1), 1u);
    EXPECT_EQ(Structure::repeated(2, 3, 4).parts().size(), 1u);
}

TEST(Structure, AMaskIsOnePartThatHasThePatternAlsoInACopy) {
    const Structure copy = [] {
        const Structure s = Structure::mask(3, 2, {0, 2, 3}, {0, 2, 1});
        return Structure(s);
    }();
    ASSERT_EQ(copy.parts().size(), 1u);
    const Block& b = copy.parts()[0];
    EXPECT_FALSE(b.full());
    EXPECT_EQ(b, (Block{.rows = 3, .cols = 2}));
    EXPECT_EQ(b.links(), 3u);
    EXPECT_EQ(b.column_begin(0), 0u);
    EXPECT_EQ(b.column_begin(1), 2u);
    EXPECT_EQ(b.column_begin(2), 3u);
    EXPECT_EQ(std::vector<std::uint32_t>(b.row_indices.begin(), b.row_indices.end()),
              (std::vector<std::uint32_t>{0, 2, 1}));
}

TEST(Structure, AHundredBlocksNeverBecomeABigMatrix) {
    const Structure s = Structure::repeated(50, 100, 100);
    EXPECT_EQ(s.links(), 5000u);
    EXPECT_EQ(s.rows(), 5000u);
    EXPECT_EQ(s.cols(), 10000u);
}

TEST(Structure, EqualityComparesThePatternNotThePointer) {
    EXPECT_EQ(Structure::mask(2, 2, {0, 1, 2}, {0, 1}), Structure::mask(2, 2, {0, 1, 2}, {0, 1}));
    EXPECT_FALSE(Structure::mask(2, 2, {0, 1, 2}, {0, 1}) ==
                 Structure::mask(2, 2, {0, 1, 2}, {1, 0}));
    EXPECT_FALSE(Structure::dense(2, 2) == Structure::repeated(2, 2, 1));
    EXPECT_FALSE(Structure::repeated(2, 2, 2) == blocks({{2, 2}, {2, 2}}));
    EXPECT_FALSE(blocks({{1, 2}, {2, 1}}) == blocks({{2, 1}, {1, 2}}));
}

TEST(Structure, RefusesEmptyShapes) {
    EXPECT_EQ(refusal(ErrorKind::usage, [] { Structure::dense(0, 3); }),
              "an operator of 0 x 3 has no entries");
    refusal(ErrorKind::usage, [] { Structure::dense(3, 0); });
    refusal(ErrorKind::usage, [] { Structure::repeated(3, 3, 0); });
    refusal(ErrorKind::usage, [] { blocks({}); });
    refusal(ErrorKind::usage, [] { blocks({{2, 2}, {0, 2}}); });
}

TEST(Structure, RefusesSizesWhoseProductsOverflow) {
    const std::size_t huge = std::size_t{1} << 33;
    refusal(ErrorKind::usage, [&] { Structure::dense(huge, huge); });
    refusal(ErrorKind::usage, [&] { Structure::repeated(huge, 1, huge); });
    refusal(ErrorKind::usage, [&] { Structure::repeated(1, huge, huge); });
}

TEST(Structure, RefusesMasksThatLie) {
    const auto mask = [](std::vector<std::uint32_t> offsets, std::vector<std::uint32_t> rows) {
        return refusal(ErrorKind::input,
                       [&] { Structure::mask(3, 2, std::move(offsets), std::move(rows)); });
    };
    EXPECT_EQ(mask({0, 3}, {0, 1, 2}), "the mask's offsets do not describe 2 columns and 3 links");
    mask({1, 2, 3}, {0, 1, 2});
    mask({0, 1, 2}, {0, 1, 2});
    mask({0, 9, 3}, {0, 1, 2});
    EXPECT_EQ(mask({0, 3, 3}, {0, 1, 2}), "the mask leaves signal entry (column) 1 without links");
    EXPECT_EQ(mask({0, 2, 3}, {0, 1, 3}), "the mask's rows of column 1 are not ascending below 3");
    EXPECT_EQ(mask({0, 2, 3}, {1, 0, 2}), "the mask's rows of column 0 are not ascending below 3");
    EXPECT_EQ(mask({0, 2, 3}, {0, 0, 2}), "the mask's rows of column 0 are not ascending below 3");
    EXPECT_EQ(mask({0, 2, 3}, {0, 1, 1}), "the mask leaves measurement (row) 2 without links");
    // Fewer links than rows.
    EXPECT_EQ(mask({0, 1, 2}, {0, 2}), "the mask leaves measurement (row) 1 without links");
    EXPECT_EQ(mask({0, 1, 2}, {0, 0}), "the mask leaves measurement (row) 1 without links");
}

TEST(Structure, KindsAreNamedAsInTheConfiguration) {
    for (const char* name : {"dense", "repeated", "blocks", "mask"})
        EXPECT_EQ(to_string(parse_structure_kind(name)), name);
    EXPECT_EQ(refusal(ErrorKind::usage, [] { parse_structure_kind("repeat"); }),
              "unknown structure 'repeat'");
}

}  // namespace
}  // namespace pibinn
