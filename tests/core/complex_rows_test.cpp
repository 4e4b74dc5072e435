#include "pibinn/complex_rows.hpp"

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

using Complex = std::complex<float>;

Batch counted(std::size_t rows, std::size_t cols) {
    Batch batch(rows, cols);
    for (std::size_t i = 0; i < batch.size(); ++i) batch.values()[i] = static_cast<float>(i);
    return batch;
}

TEST(ComplexRows, SplitPutsTheRealPartsOfEachVectorFirst) {
    // Two vectors of three entries: 0 + 1j, 2 + 3j, 4 + 5j and 6 + 7j, 8 + 9j, 10 + 11j.
    const Batch split = split_complex(counted(1, 12), 2);
    const std::vector<float> expected{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};
    EXPECT_EQ(std::vector<float>(split.values().begin(), split.values().end()), expected);
}

TEST(ComplexRows, ComeBackWhateverTheVectorsAndTheStride) {
    const Batch wide = counted(5, 26);
    for (const std::size_t vectors : {1UL, 2UL, 3UL, 6UL}) {
        const ConstBatchView rows = wide.view().col_range(1, 25);
        const Batch split = split_complex(rows, vectors);
        const Batch back = interleave_complex(split, vectors);
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t j = 0; j < 24; ++j) EXPECT_EQ(back(i, j), rows(i, j));
        Batch into(5, 24), out(5, 24);
        split_complex(rows, into, vectors);
        EXPECT_EQ(into, split);
        interleave_complex(split, out, vectors);
        EXPECT_EQ(out, back);
    }
}

TEST(ComplexRows, AreThoseOfStdComplex) {
    Matrix<Complex> a(2, 3);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            a(i, j) = {static_cast<float>(10 * i + j), -static_cast<float>(j + 1)};
    const Batch split = split_complex(a);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            EXPECT_EQ(split(i, j), a(i, j).real());
            EXPECT_EQ(split(i, 3 + j), a(i, j).imag());
        }
    EXPECT_EQ(join_complex(split), a);
}

TEST(ComplexRows, ThatDoNotDivideAreRefused) {
    EXPECT_THROW(split_complex(counted(2, 7)), Error);
    EXPECT_THROW(split_complex(counted(2, 6), 2), Error);
    EXPECT_THROW(split_complex(counted(2, 6), 0), Error);
    EXPECT_THROW(interleave_complex(counted(2, 7)), Error);
    EXPECT_THROW(join_complex(counted(2, 5)), Error);
    Batch small(1, 6);
    EXPECT_THROW(split_complex(counted(2, 6), small), Error);
    EXPECT_THROW(interleave_complex(counted(1, 8), small), Error);
    EXPECT_FALSE((RowLayout{true, 2}.fits(6)));
    EXPECT_FALSE((RowLayout{false, 0}.fits(6)));
    EXPECT_TRUE((RowLayout{true, 3}.fits(6)));
    EXPECT_EQ((RowLayout{true, 3}.entries(6)), 3u);
}

}  // namespace
}  // namespace pibinn
