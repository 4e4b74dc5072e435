#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <matio.h>

#include "data/files.hpp"
#include "pibinn/array.hpp"
#include "pibinn/operator.hpp"

namespace pibinn {
namespace {

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
    write_mat(folder / "d.mat", version, compression, {"d"}, {0.1, 1 + 1e-12, 1e9 + 0.1, -7}, 2);
    const UserArray digits = read_user_array((folder / "d.mat").string(), Numbers::real);
    EXPECT_TRUE(digits.precise());
    EXPECT_EQ(digits(0, 0), 0.1);
    EXPECT_EQ(digits(0, 1), 1e9 + 0.1);
    EXPECT_EQ(digits(1, 0), 1 + 1e-12);
    EXPECT_EQ(digits.to_float32(), read_array((folder / "d.mat").string()));
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

/// One place of a file changed as a fuzzer changes it: a bit, a byte, a number, a copied piece.
void mutate(std::string& bytes, std::size_t first, std::mt19937_64& random) {
    static constexpr std::array<std::uint64_t, 8> numbers{
        0, 1, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, ~std::uint64_t{0}};
    // Most of a small file is padding: three of four changes hit what is not zero.
    std::size_t at = 0;
    do at = first + random() % (bytes.size() - first);
    while (bytes[at] == 0 && random() % 4 != 0);
    const std::size_t room = bytes.size() - at;
    switch (random() % 4) {
        case 0:
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
            return;
        case 1:
            bytes[at] = static_cast<char>(random());
            return;
        case 2:
            std::memcpy(&bytes[at], &numbers[random() % numbers.size()],
                        std::min<std::size_t>(std::size_t{1} << random() % 4, room));
            return;
        default: {
            const std::size_t from = random() % bytes.size();
            std::memmove(&bytes[at], &bytes[from],
                         std::min({1 + random() % 32, room, bytes.size() - from}));
        }
    }
}

class MutatedMat : public ::testing::TestWithParam<std::pair<mat_ft, matio_compression>> {};

TEST_P(MutatedMat, IsReadOrRefusedAndNeverEndsTheProgram) {
    const TestFolder folder;
    const auto [version, compression] = GetParam();
    write_mat(folder / "good.mat", version, compression, {"A"}, {1, 2, 3, 4, 5, 6}, 2);
    const std::string good = read_file(folder / "good.mat");
    const std::size_t header = version == MAT_FT_MAT73 ? 512 : 128;
    std::mt19937_64 random(20240601);
    std::size_t refused = 0, read = 0;
    for (int i = 0; i < 150; ++i) {
        std::string bad = good;
        for (std::size_t n = 1 + random() % 4; n > 0; --n) mutate(bad, header, random);
        std::ofstream(folder / "bad.mat", std::ios::binary) << bad;
        try {
            const Batch numbers = read_array((folder / "bad.mat").string());
            for (const float v : numbers.values()) ASSERT_TRUE(std::isfinite(v));
            ++read;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
            ++refused;
        }
    }
    // Otherwise the mutations would be too tame to test anything.
    EXPECT_GT(refused, 20u);
    EXPECT_EQ(read + refused, 150u);
}

INSTANTIATE_TEST_SUITE_P(Versions, MutatedMat,
                         ::testing::Values(std::pair{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                                           std::pair{MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                                           std::pair{MAT_FT_MAT73, MAT_COMPRESSION_NONE}));

std::string little(std::uint32_t a, std::uint32_t b) {
    std::string text(8, '\0');
    std::memcpy(text.data(), &a, 4);
    std::memcpy(text.data() + 4, &b, 4);
    return text;
}

/// A compressed element of version 5, which says that it is a sparse matrix of these sizes.
std::string sparse_claim(std::uint32_t rows, std::uint32_t cols, std::uint32_t most) {
    const auto element = [](std::uint32_t kind, std::string data) {
        const auto length = static_cast<std::uint32_t>(data.size());
        data.resize((data.size() + 7) / 8 * 8);
        return little(kind, length) + data;
    };
    const std::string content =
        element(14, element(6, little(5, most)) + element(5, little(rows, cols)) + element(1, "S") +
                        little(5, 4 * most) + std::string(64, '\0'));
    std::string packed(compressBound(content.size()), '\0');
    uLongf length = packed.size();
    compress(reinterpret_cast<Bytef*>(packed.data()), &length,
             reinterpret_cast<const Bytef*>(content.data()), content.size());
    std::string file = "MATLAB 5.0 MAT-file";
    file.resize(124, ' ');
    return file + std::string("\x00\x01IM", 4) + little(15, static_cast<std::uint32_t>(length)) +
           packed.substr(0, length);
}

/// The most memory that a child of this process had so far, in bytes.
double peak_of_children() {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

TEST(Mat, ASparseMatrixTakesNoMoreMemoryThanItsFileWarrants) {
    const TestFolder folder;
    const std::string place = (folder / "s.mat").string();
    for (const std::uint32_t most : {1U << 20U, 1U << 28U, 1U << 30U, 0x3fffffffU}) {
        write_file(place, sparse_claim(1U << 16U, 1U << 16U, most));
        EXPECT_LT(read_file(place).size(), 300u);
        EXPECT_THROW(read_array(place), Error) << most;
        EXPECT_THROW(read_sparse_array(place), Error) << most;
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(peak_of_children(), 1024.0 * static_cast<double>(usage.ru_maxrss) + 100e6);
}

TEST(Mat, ASparseMatrixInFullIsCountedAgainstItsFile) {
    const TestFolder folder;
    const std::string place = (folder / "s.mat").string();
    constexpr std::size_t n = 10'000;
    {
        const std::unique_ptr<mat_t, MatDeleter> file(
            Mat_CreateVer(place.c_str(), nullptr, MAT_FT_MAT5));
        mat_uint32_t rows[1] = {7};
        std::vector<mat_uint32_t> starts(n + 1, 1);
        starts[0] = 0;
        double values[1] = {5};
        mat_sparse_t sparse{1, rows, 1, starts.data(), n + 1, 1, values};
        std::size_t dims[2] = {n, n};
        const std::unique_ptr<matvar_t, MatDeleter> variable(
            Mat_VarCreate("S", MAT_C_SPARSE, MAT_T_DOUBLE, 2, dims, &sparse, MAT_F_DONT_COPY_DATA));
        ASSERT_EQ(Mat_VarWrite(file.get(), variable.get(), MAT_COMPRESSION_ZLIB), 0);
    }
    EXPECT_NE(message_of([&] { read_array(place); }).find("numbers in full would take 400.0 MB"),
              std::string::npos);
    EXPECT_EQ(read_sparse_array(place)->values, std::vector<double>{5});
}

TEST(Mat, ThatCannotBeOpenedSaysWhy) {
    const TestFolder folder;
    write_file(folder / "file.npy", "x");
    std::filesystem::create_symlink(folder / "loop.mat", folder / "loop.mat");
    std::filesystem::create_directory(folder / "folder.mat");
    ASSERT_EQ(::mkfifo((folder / "pipe.mat").c_str(), 0600), 0);
    const std::vector<std::pair<std::string, std::string>> cases{
        {"none.mat", "No such file"},       {"file.npy/x.mat", "Not a directory"},
        {"loop.mat", "symbolic links"},     {"folder.mat", "it is a folder"},
        {"pipe.mat", "not a regular file"}, {std::string(300, 'x') + ".mat", "too long"}};
    for (const auto& [name, why] : cases) try {
            read_array((folder / name).string());
            ADD_FAILURE() << name;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
            EXPECT_NE(error.message().find(why), std::string::npos) << error.what();
        }
    write_file(folder / "closed.mat", "x");
    std::filesystem::permissions(folder / "closed.mat", std::filesystem::perms::none);
    const WithoutPrivileges user(folder);
    EXPECT_NE(
        message_of([&] { read_array((folder / "closed.mat").string()); }).find("Permission denied"),
        std::string::npos);
}

}  // namespace
}  // namespace pibinn
