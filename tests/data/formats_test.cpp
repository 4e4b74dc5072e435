#include <array>
#include <bit>
#include <cmath>
#include <memory>

#include <matio.h>

#include "data/array_format.hpp"
#include "data/files.hpp"
#include "pibinn/array.hpp"
#include "pibinn/npz.hpp"

namespace pibinn {
namespace {

TEST(Formats, AreThoseThatAreRegistered) {
    const std::vector<std::string_view> all{".npy", ".npz", ".mat", ".csv"};
    EXPECT_EQ(array_suffixes(), all);
    EXPECT_EQ(written_array_suffixes(), all);
    for (const ArrayFormat* format : array_formats()) EXPECT_NE(format->read, nullptr);
}

/// Numbers that are hard to write: no short decimals, subnormal, largest and negative zero.
Batch hard_numbers(std::size_t rows, std::size_t cols) {
    Batch batch(rows, cols);
    std::uint32_t state = 12345;
    for (float& v : batch.values()) {
        do {
            state = state * 1664525U + 1013904223U;
            v = std::bit_cast<float>(state);
        } while (!std::isfinite(v));
    }
    batch(0, 0) = -0.0F;
    batch(0, 1) = std::numeric_limits<float>::denorm_min();
    batch(1, 0) = std::numeric_limits<float>::max();
    batch(1, 1) = 0.1F;
    return batch;
}

void expect_same_bits(const Batch& a, const Batch& b) {
    ASSERT_EQ(a.rows(), b.rows());
    ASSERT_EQ(a.cols(), b.cols());
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(a.data()[i]),
                  std::bit_cast<std::uint32_t>(b.data()[i]))
            << i;
}

class EveryFormat : public ::testing::TestWithParam<std::string> {
protected:
    std::string place() const { return (folder / ("x" + GetParam())).string(); }
    TestFolder folder;
};

TEST_P(EveryFormat, GivesBackTheSameBits) {
    const Batch batch = hard_numbers(500, 7);
    write_array(place(), batch);
    expect_same_bits(read_array(place()), batch);
}

TEST_P(EveryFormat, IsTheSameFileWrittenInPieces) {
    const Batch batch = hard_numbers(40, 3);
    write_array(place(), batch);
    const std::string whole = read_file(array_file(place()));
    for (const bool announced : {false, true}) {
        ArrayWriter writer(place(), 3, announced ? std::optional<std::size_t>(40) : std::nullopt);
        for (std::size_t i = 0; i < 40; i += 8) writer.write(batch.view().row_range(i, i + 8));
        writer.commit();
        EXPECT_EQ(read_file(array_file(place())), whole);
    }
}

TEST_P(EveryFormat, LeavesNothingWithoutCommit) {
    {
        ArrayWriter writer(place(), 3);
        writer.write(hard_numbers(4, 3));
        EXPECT_THROW(writer.write(hard_numbers(4, 2)), Error);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    EXPECT_THROW(write_array((folder / ("none/x" + GetParam())).string(), hard_numbers(2, 2)),
                 Error);
}

INSTANTIATE_TEST_SUITE_P(All, EveryFormat, ::testing::Values(".npy", ".npz", ".mat", ".csv"),
                         [](const auto& tested) { return tested.param.substr(1); });

TEST(WriteArray, RefusesPlacesThatNoFormatWrites) {
    const TestFolder folder;
    for (const char* name : {"x.txt", "x", "x.csv:name", "x.npy:name"}) {
        const std::string place = (folder / name).string();
        EXPECT_THROW(require_writable_array(place), Error) << name;
        const std::string message = message_of([&] { write_array(place, hard_numbers(2, 2)); });
        EXPECT_NE(message.find("x.npz:NAME, x.mat, x.mat:NAME or x.csv"), std::string::npos);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CsvWriter, WritesTheShortestTextOfEachNumber) {
    const TestFolder folder;
    Batch batch(2, 3);
    batch(0, 0) = 0.1F;
    batch(0, 1) = -3;
    batch(0, 2) = 1.0F / 3;
    batch(1, 1) = 1e-30F;
    batch(1, 2) = 16777216;
    write_array((folder / "x.csv").string(), batch);
    EXPECT_EQ(read_file(folder / "x.csv"), "0.1,-3,0.33333334\n0,1e-30,16777216\n");
}

TEST(NpzWriter, NamesTheArrayAsAskedOrAfterTheFile) {
    const TestFolder folder;
    write_array((folder / "x.npz").string(), hard_numbers(2, 2));
    EXPECT_EQ(npz_names(folder / "x.npz"), std::vector<std::string>{"x"});
    write_array((folder / "x.npz:other").string(), hard_numbers(2, 2));
    EXPECT_EQ(npz_names(folder / "x.npz"), std::vector<std::string>{"other"});
}

/// The name of the only variable, as matio sees it, and its class.
std::pair<std::string, matio_classes> variable_of(const std::filesystem::path& path) {
    struct Closer {
        void operator()(mat_t* file) const { Mat_Close(file); }
        void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
    };
    const std::unique_ptr<mat_t, Closer> file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!file) return {"not a MATLAB file", MAT_C_EMPTY};
    const std::unique_ptr<matvar_t, Closer> variable(Mat_VarReadNextInfo(file.get()));
    return {variable->name, variable->class_type};
}

TEST(MatWriter, NamesTheVariableAsAskedOrAfterTheFile) {
    const TestFolder folder;
    const auto name_of = [&](const std::string& place) {
        write_array((folder / place).string(), hard_numbers(2, 3));
        return variable_of(array_file((folder / place).string())).first;
    };
    EXPECT_EQ(name_of("x.mat"), "x");
    EXPECT_EQ(name_of("my signals-2.mat"), "my_signals_2");
    EXPECT_EQ(name_of("3.mat"), "x3");
    EXPECT_EQ(name_of("_x.mat"), "x_x");
    EXPECT_EQ(name_of(std::string(90, 'a') + ".mat"), std::string(63, 'a'));
    EXPECT_EQ(name_of("x.mat:signals"), "signals");
    EXPECT_EQ(variable_of(folder / "x.mat").second, MAT_C_SINGLE);
    for (const char* name : {"x.mat:3a", "x.mat:a b", "x.mat:_a"})
        EXPECT_NE(message_of([&] { name_of(name); }).find("cannot hold a variable"),
                  std::string::npos)
            << name;
}

TEST(MatWriter, WritesArraysOfAnyShape) {
    const TestFolder folder;
    for (const auto& [rows, cols] : {std::pair{1, 1}, std::pair{1, 2}, std::pair{5, 1}}) {
        Batch batch(static_cast<std::size_t>(rows), static_cast<std::size_t>(cols));
        for (std::size_t i = 0; i < batch.size(); ++i) batch.data()[i] = static_cast<float>(i) - 1;
        write_array((folder / "x.mat").string(), batch);
        expect_same_bits(read_array((folder / "x.mat").string()), batch);
    }
}

TEST(ArrayWriter, RefusesMoreThanAFormatHolds) {
    const TestFolder folder;
    constexpr std::size_t rows = 1U << 20U;
    for (const char* name : {"x.mat", "x.npz"}) {
        const std::string message =
            message_of([&] { ArrayWriter((folder / name).string(), 2048, rows); });
        EXPECT_NE(message.find("1048576 rows of 2048 numbers do not fit"), std::string::npos);
        EXPECT_NE(message.find(".npy"), std::string::npos);
    }
}

}  // namespace
}  // namespace pibinn
