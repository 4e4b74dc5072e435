#include "pibinn/array.hpp"

#include <array>
#include <cmath>
#include <memory>

#include "data/files.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/npz.hpp"

namespace pibinn {
namespace {

Batch some_numbers(std::size_t rows, std::size_t cols) {
    Batch batch(rows, cols);
    for (std::size_t i = 0; i < batch.size(); ++i)
        batch.data()[i] = 0.25F * static_cast<float>(i) - 3;
    return batch;
}

Batch read_text(const TestFolder& folder, const std::string& text) {
    write_file(folder / "a.csv", text);
    return read_array((folder / "a.csv").string());
}

TEST(Csv, AnyUsualSeparatorGivesTheSame) {
    const TestFolder folder;
    const Batch expected = some_numbers(2, 3);
    EXPECT_EQ(expected, read_text(folder, "-3,-2.75,-2.5\n-2.25,-2,-1.75"));
    EXPECT_EQ(expected, read_text(folder, "a; b; c\r\n-3;-2.75;-2.5\r\n\r\n-2.25 ;-2;-1.75\r\n"));
    EXPECT_EQ(expected,
              read_text(folder, "\xef\xbb\xbf# note\n-3\t-2.75\t-2.5\n-2.25 -2   -1.75\n"));
    EXPECT_EQ(read_text(folder, "+1e-3\n").values()[0], 1e-3F);
    EXPECT_EQ(read_text(folder, "").rows(), 0u);
}

TEST(Csv, WhatIsNotNumbersIsRefusedWithItsLine) {
    const TestFolder folder;
    const auto message = [&](const std::string& text) {
        return message_of([&] { read_text(folder, text); });
    };
    EXPECT_NE(message("1,2\n3\n").find("line 2 has 1 numbers"), std::string::npos);
    EXPECT_NE(message("1,2\n3,x\n").find("line 2: 'x'"), std::string::npos);
    EXPECT_NE(message("1;2\n1,5;2\n").find("line 2: '1,5'"), std::string::npos);
    EXPECT_NE(message("1,2\n3,nan\n").find("line 2"), std::string::npos);
    EXPECT_NE(message("1,\n").find("''"), std::string::npos);
    EXPECT_NE(message("1e300\n").find("float32"), std::string::npos);
}

TEST(ArrayRows, GiveTheRowsOfAnyOrderAndFormat) {
    const TestFolder folder;
    const Batch whole = some_numbers(23, 4);
    write_npy(folder / "c.npy", whole);
    std::string fortran = "\x93NUMPY\x01";
    const std::string text = "{'descr': '<f8', 'fortran_order': True, 'shape': (23, 4), }\n";
    fortran += std::string(1, '\0') + static_cast<char>(text.size()) + std::string(1, '\0') + text;
    for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t i = 0; i < 23; ++i) {
            const double value = whole(i, j);
            fortran.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
    write_file(folder / "f.npy", fortran);
    write_npz(folder / "z.npz", std::array{NpzArray{"a", whole.view()}});
    for (const char* name : {"c.npy", "f.npy", "z.npz"}) {
        ArrayRows rows((folder / name).string());
        EXPECT_EQ(rows.rows(), 23u);
        EXPECT_EQ(rows.cols(), 4u);
        for (const std::size_t begin : {std::size_t{0}, std::size_t{7}, std::size_t{22}}) {
            const std::size_t count = std::min<std::size_t>(9, 23 - begin);
            const Batch part = rows.read(begin, count);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t j = 0; j < 4; ++j)
                    ASSERT_EQ(part(i, j), whole(begin + i, j)) << name;
        }
    }
}

TEST(ArrayRows, NameTheRowOfTheFileInErrors) {
    const TestFolder folder;
    Batch whole = some_numbers(23, 4);
    whole(20, 1) = INFINITY;
    write_npy(folder / "c.npy", whole);
    ArrayRows rows((folder / "c.npy").string());
    rows.read(0, 20);
    EXPECT_NE(message_of([&] { rows.read(15, 8); }).find("row 20, column 1"), std::string::npos);
}

TEST(ArrayRows, BeyondTheArrayAreTheCallersMistake) {
    const TestFolder folder;
    write_npy(folder / "c.npy", some_numbers(5, 4));
    ArrayRows rows((folder / "c.npy").string());
    EXPECT_NE(message_of([&] { rows.read(3, 3); }).find("rows 3 to 6 of an array of 5 rows"),
              std::string::npos);
    EXPECT_NE(message_of([&] { rows.read(6, 0); }).find("rows 6 to 6"), std::string::npos);
}

TEST(NpyWriter, LeavesNothingWithoutAllRows) {
    const TestFolder folder;
    {
        NpyWriter writer(folder / "x.npy", 5, 4);
        writer.write(some_numbers(3, 4));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    NpyWriter writer(folder / "x.npy", 5, 4);
    writer.write(some_numbers(3, 4));
    EXPECT_THROW(writer.commit(), Error);
    writer.write(some_numbers(2, 4));
    writer.commit();
    EXPECT_EQ(read_npy(folder / "x.npy").rows(), 5u);
}

TEST(NamesArray, KnowsFilesFromWords) {
    for (const char* file : {"A.npy", "A.npz", "A.npz:a", "dir/A.mat", "A.mat:A", "A.csv"})
        EXPECT_TRUE(names_array(file)) << file;
    for (const char* word : {"gaussian", "npy", "a.npy.txt", ""})
        EXPECT_FALSE(names_array(word)) << word;
}

}  // namespace
}  // namespace pibinn
