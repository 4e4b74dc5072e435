#include "pibinn/array.hpp"

#include <array>
#include <cmath>
#include <memory>

#include <matio.h>

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

struct MatDeleter {
    void operator()(mat_t* file) const { Mat_Close(file); }
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};

/// Writes matrices of doubles, whose numbers stand column by column.
void write_mat(const std::filesystem::path& path, mat_ft version, matio_compression compression,
               std::initializer_list<const char*> names, std::vector<double> values,
               std::size_t rows, int flags = 0) {
    const std::unique_ptr<mat_t, MatDeleter> file(Mat_CreateVer(path.c_str(), nullptr, version));
    ASSERT_TRUE(file);
    for (const char* name : names) {
        std::size_t dims[2] = {rows, values.size() / rows};
        mat_complex_split_t parts{values.data(), values.data()};
        void* const data = flags & MAT_F_COMPLEX ? static_cast<void*>(&parts) : values.data();
        const std::unique_ptr<matvar_t, MatDeleter> variable(
            Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, data, flags));
        ASSERT_EQ(Mat_VarWrite(file.get(), variable.get(), compression), 0);
    }
}

class EveryMat : public ::testing::TestWithParam<std::pair<mat_ft, matio_compression>> {};

TEST_P(EveryMat, IsReadByNameAndColumnByColumn) {
    const TestFolder folder;
    const auto [version, compression] = GetParam();
    write_mat(folder / "a.mat", version, compression, {"A"}, {1, 2, 3, 4, 5, 6}, 2);
    Batch expected(2, 3);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) expected(i, j) = static_cast<float>(2 * j + i + 1);
    EXPECT_EQ(read_array((folder / "a.mat").string()), expected);
    write_mat(folder / "b.mat", version, compression, {"first", "second"}, {1, 2}, 1);
    const std::string place = (folder / "b.mat").string();
    EXPECT_EQ(read_array(place + ":second").cols(), 2u);
    EXPECT_NE(message_of([&] { read_array(place); }).find("'first', 'second'"), std::string::npos);
    EXPECT_NE(message_of([&] { read_array(place + ":secnd"); }).find("did you mean 'second'"),
              std::string::npos);
    write_mat(folder / "c.mat", version, compression, {"c"}, {1, 2}, 1, MAT_F_COMPLEX);
    EXPECT_NE(message_of([&] { read_array((folder / "c.mat").string()); }).find("complex"),
              std::string::npos);
    write_mat(folder / "n.mat", version, compression, {"n"}, {1, NAN}, 1);
    EXPECT_NE(message_of([&] { read_array((folder / "n.mat").string()); }).find("column 1"),
              std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, EveryMat,
                         ::testing::Values(std::pair{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                                           std::pair{MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                                           std::pair{MAT_FT_MAT73, MAT_COMPRESSION_NONE}));

TEST(Mat, SparseMatricesAreReadInFull) {
    const TestFolder folder;
    {
        const std::unique_ptr<mat_t, MatDeleter> file(
            Mat_CreateVer((folder / "s.mat").c_str(), nullptr, MAT_FT_MAT5));
        // 3 x 2: entry (2, 0) is 5, entry (1, 1) is -4.
        mat_uint32_t rows[2] = {2, 1}, starts[3] = {0, 1, 2};
        double values[2] = {5, -4};
        mat_sparse_t sparse{2, rows, 2, starts, 3, 2, values};
        std::size_t dims[2] = {3, 2};
        const std::unique_ptr<matvar_t, MatDeleter> variable(
            Mat_VarCreate("S", MAT_C_SPARSE, MAT_T_DOUBLE, 2, dims, &sparse, MAT_F_DONT_COPY_DATA));
        ASSERT_EQ(Mat_VarWrite(file.get(), variable.get(), MAT_COMPRESSION_NONE), 0);
    }
    Batch expected(3, 2);
    expected(2, 0) = 5;
    expected(1, 1) = -4;
    EXPECT_EQ(read_array((folder / "s.mat").string()), expected);
}

TEST(Mat, DamagedFilesAreRefused) {
    const TestFolder folder;
    write_mat(folder / "good.mat", MAT_FT_MAT5, MAT_COMPRESSION_NONE, {"A"}, {1, 2, 3, 4, 5, 6}, 2);
    const std::string good = read_file(folder / "good.mat");
    const std::string bad = (folder / "bad.mat").string();
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{64}, std::size_t{128}, std::size_t{150}, good.size() - 20}) {
        write_file(bad, good.substr(0, length));
        EXPECT_THROW(read_array(bad), Error) << length;
    }
    write_file(bad, "A = 1;\n");
    EXPECT_THROW(read_array(bad), Error);
    EXPECT_THROW(read_array((folder / "missing.mat").string()), Error);
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
