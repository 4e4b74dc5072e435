#include "problem/row_shares.hpp"

#include <gtest/gtest.h>

#include "pibinn/synthetic_problem.hpp"

namespace pibinn {
namespace {

TEST(RowShares, EveryRowIsOfThePartThatHoldsIt) {
    for (const std::size_t rows : {1U, 50U, 128U, 129U, 1100U})
        for (const std::size_t repeat : {1U, 3U, 48U, 128U})
            for (const std::size_t parts : {1U, 2U, 3U, 8U}) {
                const RowShares shares(rows, repeat, parts);
                EXPECT_EQ(shares.begin(0), 0U);
                EXPECT_EQ(shares.begin(parts), rows);
                for (std::size_t row = 0; row < rows; ++row) {
                    const std::size_t part = shares.part_of(row);
                    ASSERT_LE(shares.begin(part), row);
                    ASSERT_LT(row, shares.begin(part + 1));
                }
            }
}

TEST(RowShares, RepeatedSignalsArePartsOfFewRows) {
    // 128 blocks are 8 signals of 48.
    const RowShares shares(50, 48, 7);
    EXPECT_EQ(shares.size(0), 8U);
    EXPECT_EQ(shares.size(6), 2U);
    EXPECT_EQ(RowShares(50, 1, 7).most(), 50U);
}

TEST(RowShares, PartsOfASyntheticProblemAreTheRowsOfTheWhole) {
    ThreadPool pool(2);
    for (const StructureKind kind :
         {StructureKind::dense, StructureKind::repeated, StructureKind::blocks}) {
        SyntheticSpec spec;
        spec.m = 10;
        spec.n = 20;
        spec.structure = kind;
        spec.repeat = 6;
        spec.train = 300;
        spec.test = 5;
        spec.noise_std = 0.1;
        const Problem whole = make_synthetic(spec, 1, pool);
        EXPECT_EQ(whole.train_rows, 0U);
        spec.parts = 3;
        std::size_t rows = 0;
        for (spec.part = 0; spec.part < spec.parts; ++spec.part) {
            const Problem part = make_synthetic(spec, 1, pool);
            EXPECT_EQ(part.all_train_rows(), 300U);
            EXPECT_EQ(part.train_begin, rows);
            for (std::size_t i = 0; i < part.train.x.rows(); ++i, ++rows)
                for (auto set : {&DataSet::x, &DataSet::y}) {
                    const auto here = (part.train.*set).row(i);
                    const auto there = (whole.train.*set).row(rows);
                    ASSERT_TRUE(std::equal(here.begin(), here.end(), there.begin())) << rows;
                }
            EXPECT_EQ(part.test.y.size(), whole.test.y.size());
        }
        EXPECT_EQ(rows, 300U);
    }
}

}  // namespace
}  // namespace pibinn
