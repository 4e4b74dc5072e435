#include "pibinn/structure_finder.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/random.hpp"

namespace pibinn {
namespace {

using Order = std::vector<std::uint32_t>;
using Shapes = std::vector<std::pair<std::size_t, std::size_t>>;

Matrix<float> random_on(const Structure& s, std::uint64_t seed = 1) {
    return Operator::random(s, OperatorEnsemble::gaussian, seed).to_dense();
}

Order shuffled(std::size_t count, std::uint64_t seed) {
    Order order(count);
    std::iota(order.begin(), order.end(), 0U);
    Stream stream(seed, Purpose::tests);
    for (std::size_t i = count; i > 1; --i)
        std::swap(order[i - 1], order[stream.below(static_cast<std::uint32_t>(i))]);
    return order;
}

const StructureFit* fit_of(const StructureFinding& finding, StructureKind kind, bool reordered) {
    for (const StructureFit& fit : finding.fits)
        if (fit.structure.kind() == kind && fit.reordered == reordered) return &fit;
    return nullptr;
}

/// Every structure of a finding must hold the matrix it was found in: the operator that refuses
/// entries off the structure and repetitions that differ is the judge.
void expect_that_all_fits_hold(MatrixView<const float> a, const StructureFinding& finding) {
    const Matrix<float> in_order = reordered(a, finding.rows, finding.cols);
    for (const StructureFit& fit : finding.fits) {
        const MatrixView<const float> matrix = fit.reordered ? in_order.view() : a;
        EXPECT_NO_THROW(Operator::from_dense(matrix, fit.structure))
            << to_string(fit.structure.kind());
    }
}

TEST(StructureFinder, SaysOnlyDenseOfAFullMatrix) {
    const Matrix<float> a = random_on(Structure::dense(7, 11));
    const StructureFinding finding = find_structure(a);
    ASSERT_EQ(finding.fits.size(), 1u);
    EXPECT_EQ(finding.fits[0].structure, Structure::dense(7, 11));
    EXPECT_EQ(finding.nonzeros, 77u);
    EXPECT_EQ(finding.density(), 1.0);
}

TEST(StructureFinder, FindsRepeatedBlocks) {
    const Matrix<float> a = random_on(Structure::repeated(3, 5, 4));
    const StructureFinding finding = find_structure(a);
    const StructureFit* const fit = fit_of(finding, StructureKind::repeated, false);
    ASSERT_TRUE(fit);
    EXPECT_EQ(fit->structure, Structure::repeated(3, 5, 4));
    EXPECT_FALSE(fit_of(finding, StructureKind::blocks, true)) << "no order shows more blocks";
    expect_that_all_fits_hold(a, finding);
}

TEST(StructureFinder, FindsAGroupOfBlocksThatRepeats) {
    const Shapes shapes{{2, 3}, {1, 2}};
    const Matrix<float> one = random_on(Structure::blocks(shapes));
    Matrix<float> a(9, 15);
    for (std::size_t u = 0; u < 3; ++u)
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 5; ++j) a(3 * u + i, 5 * u + j) = one(i, j);
    const StructureFinding finding = find_structure(a);
    EXPECT_EQ(fit_of(finding, StructureKind::repeated, false)->structure,
              Structure::repeated(3, 5, 3));
    EXPECT_EQ(fit_of(finding, StructureKind::blocks, false)->structure.diagonal().size(), 6u);
    expect_that_all_fits_hold(a, finding);
}

TEST(StructureFinder, OneEntryThatDiffersMakesBlocksOfRepetitions) {
    Matrix<float> a = random_on(Structure::repeated(3, 5, 4));
    a(11, 19) += 1;
    const StructureFinding finding = find_structure(a);
    EXPECT_FALSE(fit_of(finding, StructureKind::repeated, false));
    EXPECT_EQ(fit_of(finding, StructureKind::blocks, false)->structure.links(), 60u);
    expect_that_all_fits_hold(a, finding);
}

TEST(StructureFinder, FindsBlocksOfDifferentSizes) {
    const Shapes shapes{{2, 5}, {4, 1}, {1, 1}, {3, 3}};
    const Matrix<float> a = random_on(Structure::blocks(shapes));
    const StructureFinding finding = find_structure(a);
    EXPECT_EQ(fit_of(finding, StructureKind::blocks, false)->structure, Structure::blocks(shapes));
    EXPECT_EQ(finding.rows, find_structure(random_on(Structure::dense(10, 10))).rows);
    expect_that_all_fits_hold(a, finding);
}

TEST(StructureFinder, FindsBlocksThatWereShuffled) {
    const Shapes shapes{{2, 5}, {4, 3}, {1, 1}, {3, 4}};
    const Matrix<float> blocks = random_on(Structure::blocks(shapes));
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Matrix<float> a = reordered(blocks, shuffled(10, seed), shuffled(13, 100 + seed));
        const StructureFinding finding = find_structure(a);
        const StructureFit* const fit = fit_of(finding, StructureKind::blocks, true);
        ASSERT_TRUE(fit) << seed;
        EXPECT_EQ(fit->structure.diagonal().size(), 4u);
        EXPECT_EQ(fit->structure.links(), 10u + 12 + 1 + 12);
        expect_that_all_fits_hold(a, finding);
    }
}

TEST(StructureFinder, FindsInterleavedRepetitions) {
    // A (x) I_3: entry (i, j) of every block stands in rows 3 i and columns 3 j on.
    const Matrix<float> block = random_on(Structure::dense(4, 6));
    Matrix<float> a(12, 18);
    for (std::size_t u = 0; u < 3; ++u)
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < 6; ++j) a(3 * i + u, 3 * j + u) = block(i, j);
    const StructureFinding finding = find_structure(a);
    const StructureFit* const fit = fit_of(finding, StructureKind::repeated, true);
    ASSERT_TRUE(fit);
    EXPECT_EQ(fit->structure, Structure::repeated(4, 6, 3));
    EXPECT_EQ(finding.rows[0], 0u);
    EXPECT_EQ(finding.rows[1], 3u);
    expect_that_all_fits_hold(a, finding);
}

TEST(StructureFinder, TheGivenOrderAndABetterOneAreBothTold) {
    // Two blocks as given, the first of which falls apart once its rows are swapped.
    Matrix<float> a(3, 4);
    a(0, 1) = 1;
    a(1, 0) = 2;
    a(2, 2) = a(2, 3) = 3;
    const StructureFinding finding = find_structure(a);
    EXPECT_EQ(fit_of(finding, StructureKind::blocks, false)->structure,
              Structure::blocks(Shapes{{2, 2}, {1, 2}}));
    EXPECT_EQ(fit_of(finding, StructureKind::blocks, true)->structure,
              Structure::blocks(Shapes{{1, 1}, {1, 1}, {1, 2}}));
    expect_that_all_fits_hold(a, finding);
}

TEST(StructureFinder, ThePatternOfASparseMatrixIsItsMask) {
    Matrix<float> a(3, 3);
    a(0, 0) = a(1, 0) = a(1, 1) = a(2, 1) = a(2, 2) = -0.5F;
    const StructureFinding finding = find_structure(a);
    ASSERT_EQ(finding.fits.size(), 2u);
    EXPECT_EQ(finding.fits[1].structure, Operator::from_sparse(a).structure());
}

TEST(StructureFinder, NamesRowsAndColumnsOfZeros) {
    const auto refusal = [](const Matrix<float>& a) {
        try {
            find_structure(a);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::input);
            return e.message();
        }
        return std::string("accepted");
    };
    Matrix<float> a = random_on(Structure::dense(9, 9));
    for (std::size_t j = 0; j < 9; ++j) a(3, j) = 0;
    EXPECT_EQ(refusal(a), "measurement (row) 3 holds nothing but zeros");
    a = random_on(Structure::dense(9, 9));
    for (std::size_t i = 0; i < 9; ++i) a(i, 2) = a(i, 8) = 0;
    EXPECT_EQ(refusal(a), "signal entry (column) 2, 8 hold nothing but zeros");
    EXPECT_EQ(refusal(Matrix<float>(8, 2)),
              "measurement (row) 0, 1, 2, 3, 4 and 3 more hold nothing but zeros");
    EXPECT_THROW(find_structure(Matrix<float>(0, 2)), Error);
}

TEST(ClearBelow, LeavesWhatIsAtTheThreshold) {
    Matrix<float> a(1, 4);
    a(0, 0) = 0.1F;
    a(0, 1) = -0.5F;
    a(0, 2) = -0.49F;
    a(0, 3) = 2;
    clear_below(a, 0.5F);
    EXPECT_EQ(a(0, 0), 0.0F);
    EXPECT_EQ(a(0, 1), -0.5F);
    EXPECT_EQ(a(0, 2), 0.0F);
    EXPECT_EQ(a(0, 3), 2.0F);
}

}  // namespace
}  // namespace pibinn
