// Archives with the members that scipy.sparse.save_npz documents and writes.
#include "data/scipy_sparse.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "data/files.hpp"
#include "data/npy_format.hpp"
#include "data/zip.hpp"
#include "pibinn/array.hpp"
#include "pibinn/operator.hpp"

namespace pibinn {
namespace {

using Members = std::map<std::string, std::string>;

std::string text(const std::string& value) {
    return make_npy_header(fmt::format("|S{}", value.size()), {}) + value;
}

template <class T>
std::string numbers(const char* descr, const std::vector<T>& values,
                    std::vector<std::size_t> shape = {}) {
    if (shape.empty()) shape = {values.size()};
    std::string bytes = make_npy_header(descr, shape);
    return bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string int32s(const std::vector<std::int32_t>& values) { return numbers("<i4", values); }
std::string int64s(const std::vector<std::int64_t>& values) { return numbers("<i8", values); }
std::string doubles(const std::vector<double>& values) { return numbers("<f8", values); }

// 0 5 0
// 0 0 -4
// 1 0 2
Members csr() {
    return {{"format", text("csr")},
            {"shape", int64s({3, 3})},
            {"data", doubles({5, -4, 1, 2})},
            {"indices", int32s({1, 2, 0, 2})},
            {"indptr", int32s({0, 1, 2, 4})}};
}
Members csc() {
    return {{"format", text("csc")},
            {"shape", int64s({3, 3})},
            {"data", numbers<float>("<f4", {1, 5, 2, -4})},
            {"indices", int64s({2, 0, 2, 1})},
            {"indptr", int64s({0, 1, 2, 4})}};
}
/// The entry 5 in two parts, and one that is zero.
Members coo() {
    return {{"format", text("coo")},
            {"shape", int64s({3, 3})},
            {"data", doubles({2, 1, 3, -4, 2, 0})},
            {"row", int32s({0, 2, 0, 1, 2, 1})},
            {"col", int32s({1, 0, 1, 2, 2, 1})}};
}
Members dia() {
    return {{"format", text("dia")},
            {"shape", int64s({3, 3})},
            {"data", numbers<double>("<f8", {9, 5, -4, 0, 0, 2, 1, 9, 9}, {3, 3})},
            {"offsets", int32s({1, 0, -2})}};
}

class ScipySparse : public ::testing::Test {
protected:
    std::string write(const Members& members) {
        ZipWriter archive(folder / "a.npz");
        for (const auto& [name, content] : members) archive.add(name + ".npy", content);
        archive.finish();
        return (folder / "a.npz").string();
    }
    std::string refusal(const Members& members) {
        return message_of([&] { read_array(write(members)); });
    }
    TestFolder folder;
};

TEST_F(ScipySparse, EveryLayoutIsTheSameMatrix) {
    Batch expected(3, 3);
    expected(0, 1) = 5;
    expected(1, 2) = -4;
    expected(2, 0) = 1;
    expected(2, 2) = 2;
    for (const Members& members : {csr(), csc(), coo(), dia()}) {
        const std::string place = write(members);
        EXPECT_EQ(read_array(place), expected);
        const auto sparse = read_sparse_array(place);
        ASSERT_TRUE(sparse);
        EXPECT_EQ(sparse->offsets, (std::vector<std::uint32_t>{0, 1, 2, 4}));
        EXPECT_EQ(sparse->row_indices, (std::vector<std::uint32_t>{2, 0, 1, 2}));
        EXPECT_EQ(sparse->values, (std::vector<double>{1, 5, -4, 2}));
    }
}

TEST_F(ScipySparse, MayHoldComplexNumbers) {
    // Real and imaginary parts in turn, of the entries above.
    const auto pairs = [](const std::vector<double>& parts, std::vector<std::size_t> shape) {
        return numbers<double>("<c16", parts, std::move(shape));
    };
    Members rows = csr(), entries = coo(), diagonals = dia();
    rows["data"] = pairs({5, 1, -4, 0, 0, 3, 2, -2}, {4});
    entries["data"] = pairs({2, 0, 0, 3, 3, 1, -4, 0, 2, -2, 0, 0}, {6});
    diagonals["data"] = pairs({9, 9, 5, 1, -4, 0, 0, 0, 0, 0, 2, -2, 0, 3, 9, 9, 9, 9}, {3, 3});
    for (const Members& members : {rows, entries, diagonals}) {
        const std::string place = write(members);
        const auto sparse = read_sparse_array(place);
        ASSERT_TRUE(sparse);
        EXPECT_TRUE(sparse->complex());
        EXPECT_EQ(sparse->row_indices, (std::vector<std::uint32_t>{2, 0, 1, 2}));
        EXPECT_EQ(sparse->values, (std::vector<double>{0, 5, -4, 2}));
        EXPECT_EQ(sparse->imaginary, (std::vector<double>{3, 1, 0, -2}));
        const UserArray full = read_user_array(place, Numbers::real);
        EXPECT_TRUE(full.complex());
        EXPECT_EQ(full.entries(), 3u);
        EXPECT_EQ(full(2, 0), 0);
        EXPECT_EQ(full(2, 1), 3);
        EXPECT_EQ(full(2, 5), -2);
        const Operator op = Operator::from_sparse(*sparse);
        EXPECT_EQ(op.structure().shared_links(), 8u);
        const auto dense = op.to_dense();
        EXPECT_EQ(dense(5, 0), 3);
        EXPECT_EQ(dense(2, 3), -3);
        EXPECT_EQ(dense(5, 3), 0);
    }
    rows["data"] = pairs({5, 1, -4, 0, 0, 3}, {3});
    EXPECT_NE(refusal(rows).find("indices has 4 numbers, data 3"), std::string::npos);
    // Parts of one place are added up, and each of them has to be a float32.
    const auto sum = [](double part) {
        return SparseMatrix::from_entries(2, 2, {{0, 1, 1, part}, {0, 1, 0, part}}, "A",
                                          Numbers::complex);
    };
    EXPECT_EQ(sum(1e38).imaginary, std::vector<double>{2e38});
    EXPECT_NE(message_of([&] { sum(2e38); }).find("'A' has 4e+38 at row 0, column 1"),
              std::string::npos);
}

TEST_F(ScipySparse, BecomesAMaskWithoutTheFullMatrix) {
    // A matrix of 100 000 x 100 000, of which 40 GB would be zeros.
    constexpr std::int32_t n = 100000;
    std::vector<std::int32_t> index(n), starts(n + 1);
    for (std::int32_t i = 0; i < n; ++i) index[static_cast<std::size_t>(i)] = n - 1 - i;
    for (std::int32_t i = 0; i <= n; ++i) starts[static_cast<std::size_t>(i)] = i;
    const std::string place = write({{"format", text("csr")},
                                     {"shape", int64s({n, n})},
                                     {"data", doubles(std::vector<double>(n, 0.5))},
                                     {"indices", int32s(index)},
                                     {"indptr", int32s(starts)}});
    const Operator op = Operator::from_sparse(*read_sparse_array(place));
    EXPECT_EQ(op.structure().kind(), StructureKind::mask);
    EXPECT_EQ(op.structure().links(), 100000u);
    EXPECT_NE(message_of([&] { read_array(place); }).find("numbers in full would take 40000.0 MB"),
              std::string::npos);
}

TEST_F(ScipySparse, OtherArchivesAreNone) {
    const std::string place = write({{"data", doubles({1, 2})}});
    EXPECT_FALSE(read_sparse_array(place));
    EXPECT_EQ(read_array(place).cols(), 2u);
    EXPECT_EQ(read_array(write(csr()) + ":data").cols(), 4u);
}

TEST_F(ScipySparse, WhatDoesNotFitTogetherIsRefused) {
    const std::vector<std::pair<std::string, std::string>> changes{
        {"shape", int64s({3})},
        {"shape", int64s({3, -3})},
        {"shape", int64s({3, 0})},
        {"shape", int64s({3, 2})},
        {"shape", int64s({2, 3})},
        {"shape", int64s({3, std::int64_t{1} << 40})},
        {"shape", int64s({3, std::int64_t{1} << 31})},
        {"shape", doubles({3, 3})},
        {"indices", int32s({1, 2, 0, 3})},
        {"indices", int32s({1, 2, 0, -1})},
        {"indices", int32s({1, 2, 0})},
        {"indices", doubles({1, 2, 0, 2})},
        {"indptr", int32s({0, 1, 2, 5})},
        {"indptr", int32s({0, 3, 2, 4})},
        {"indptr", int32s({0, 1, 2})},
        {"indptr", int32s({1, 1, 2, 4})},
        {"indptr", int32s({0, -1, 2, 4})},
        {"indptr", int32s({0, 9, 2, 4})},
        {"data", doubles({5, -4, 1})},
        {"data", doubles({5, -4, 1, NAN})},
        {"data", doubles({5, -4, 1, 1e300})},
        {"format", text("bsr")},
        {"format", text("")},
        {"format", text(std::string(1000, 'c'))},
        {"format", int32s({1})},
    };
    for (const auto& [name, content] : changes) {
        Members members = csr();
        members[name] = content;
        EXPECT_NE(refusal(members).find("a.npz"), std::string::npos) << name;
    }
    for (const char* name : {"indices", "indptr"}) {
        Members members = csr();
        members.erase(name);
        EXPECT_NE(refusal(members).find(name), std::string::npos);
    }
    Members diagonal = dia();
    diagonal["offsets"] = int32s({1, 0});
    EXPECT_NE(refusal(diagonal).find("offsets has 2 numbers for 3 diagonals"), std::string::npos);
    Members triplets = coo();
    triplets["row"] = int32s({0, 2, 0, 1, 3, 1});
    EXPECT_NE(refusal(triplets).find("row has 3, but the matrix is 3 x 3"), std::string::npos);
}

}  // namespace
}  // namespace pibinn
