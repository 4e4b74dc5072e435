#include <array>
#include <cmath>
#include <complex>
#include <memory>

#include <matio.h>

#include "data/array_format.hpp"
#include "data/files.hpp"
#include "data/npy_format.hpp"
#include "pibinn/array.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/npz.hpp"

// Complex numbers in files: two columns each inside, their own type or two columns outside.

namespace pibinn {
namespace {

using Complex = std::complex<float>;

Batch parts(std::size_t rows, std::size_t entries) {
    Batch batch(rows, 2 * entries);
    for (std::size_t i = 0; i < batch.size(); ++i)
        batch.values()[i] = std::sin(static_cast<float>(i)) + static_cast<float>(i % 7);
    return batch;
}

template <class T>
std::string raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

class EveryComplexFormat : public ::testing::TestWithParam<std::string> {
protected:
    std::string place() const { return (folder / ("x" + GetParam())).string(); }
    Numbers text() const { return GetParam() == ".csv" ? Numbers::complex : Numbers::real; }
    TestFolder folder;
};

TEST_P(EveryComplexFormat, GivesBackTheSameNumbers) {
    const Batch batch = parts(50, 3);
    write_array(place(), batch, Numbers::complex);
    const UserArray back = read_user_array(place(), text());
    EXPECT_TRUE(back.complex());
    EXPECT_EQ(back.rows(), 50u);
    EXPECT_EQ(back.entries(), 3u);
    EXPECT_EQ(back.cols(), 6u);
    EXPECT_EQ(back.to_float32(), batch);

    ArrayRows rows(place(), text());
    EXPECT_EQ(rows.numbers(), Numbers::complex);
    EXPECT_EQ(rows.cols(), 6u);
    for (std::size_t begin = 0; begin < 50; begin += 20) {
        const Batch part = rows.read(begin, std::min<std::size_t>(20, 50 - begin));
        for (std::size_t i = 0; i < part.rows(); ++i)
            for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(part(i, j), batch(begin + i, j));
    }
}

TEST_P(EveryComplexFormat, IsTheSameFileWrittenInPieces) {
    const Batch batch = parts(40, 2);
    write_array(place(), batch, Numbers::complex);
    const std::string whole = read_file(array_file(place()));
    for (const bool announced : {false, true}) {
        ArrayWriter writer(place(), 4, announced ? std::optional<std::size_t>(40) : std::nullopt,
                           Numbers::complex);
        for (std::size_t i = 0; i < 40; i += 8) writer.write(batch.view().row_range(i, i + 8));
        writer.commit();
        EXPECT_EQ(read_file(array_file(place())), whole);
    }
    EXPECT_THROW(ArrayWriter(place(), 3, std::nullopt, Numbers::complex), Error);
}

TEST_P(EveryComplexFormat, IsRefusedInOneLineWhereRealNumbersAreWanted) {
    write_array(place(), parts(2, 2), Numbers::complex);
    if (GetParam() == ".csv") {
        // Columns of text are real until somebody says otherwise.
        EXPECT_EQ(read_array(place()).cols(), 4u);
        EXPECT_FALSE(read_user_array(place(), Numbers::real).complex());
        return;
    }
    const Error error = error_of([&] { read_array(place()); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find("holds complex numbers, but real ones are wanted here"),
              std::string::npos);
    EXPECT_NE(error.hint().find("array.real"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, EveryComplexFormat, ::testing::Values(".npy", ".npz", ".mat", ".csv"),
                         [](const auto& tested) { return tested.param.substr(1); });

TEST(ComplexCsv, NeedsAnEvenNumberOfColumns) {
    const TestFolder folder;
    write_file(folder / "x.csv", "1,2,3\n4,5,6\n");
    const Error error =
        error_of([&] { read_user_array((folder / "x.csv").string(), Numbers::complex); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find("x.csv' has 3 columns"), std::string::npos);
    EXPECT_NE(error.hint().find("real part, imaginary part"), std::string::npos);
    // What other formats say themselves is not changed by it.
    write_npy(folder / "x.npy", parts(2, 2));
    EXPECT_FALSE(read_user_array((folder / "x.npy").string(), Numbers::complex).complex());
}

TEST(ComplexNpy, IsReadInEitherPrecisionByteOrderAndMemoryOrder) {
    const TestFolder folder;
    const std::string place = (folder / "x.npy").string();
    const std::array<std::size_t, 2> shape{2, 2};
    // 1 + 2j, 3 + 4j; 5 + 6j, 7 + 8j.
    Batch expected(2, 4);
    for (std::size_t i = 0; i < 8; ++i) expected.values()[i] = static_cast<float>(i + 1);
    const auto read = [&](std::string bytes) {
        write_file(place, bytes);
        const UserArray whole = read_user_array(place, Numbers::real);
        EXPECT_TRUE(whole.complex());
        EXPECT_EQ(ArrayRows(place).read(1, 1).row(0)[2], 7);
        return whole;
    };
    const auto single = read(make_npy_header("<c8", shape) + raw<float>({1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(single.to_float32(), expected);
    EXPECT_FALSE(single.precise());
    const auto twice = read(make_npy_header("<c16", shape) + raw<double>({1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(twice.to_float32(), expected);
    EXPECT_TRUE(twice.precise());
    std::string swapped;
    for (const double v : {1., 2., 3., 4., 5., 6., 7., 8.}) {
        std::string bytes = raw<double>({v});
        swapped.append(bytes.rbegin(), bytes.rend());
    }
    EXPECT_EQ(read(make_npy_header(">c16", shape) + swapped).to_float32(), expected);
    std::string fortran = make_npy_header("<c8", shape) + raw<float>({1, 2, 5, 6, 3, 4, 7, 8});
    fortran.replace(fortran.find("False,"), 6, "True, ");
    EXPECT_EQ(read(fortran).to_float32(), expected);
}

TEST(ComplexNpy, ThatLiesOrOverflowsIsRefused) {
    const TestFolder folder;
    const std::string place = (folder / "x.npy").string();
    const std::array<std::size_t, 2> shape{2, 2};
    const auto refused = [&](const std::string& bytes, const char* says) {
        write_file(place, bytes);
        for (const Error& error : {error_of([&] { read_user_array(place, Numbers::real); }),
                                   error_of([&] { ArrayRows(place).read(0, 2); })}) {
            EXPECT_EQ(error.kind(), ErrorKind::input);
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    };
    const std::string head = make_npy_header("<c8", shape);
    refused(head + raw<float>({1, 2, 3, 4}), "says 2 x 2 numbers of 8 bytes, but 16 bytes follow");
    refused(head + raw<float>({1, 2, 3, 4, 5, 6, 7, 8, 9}), "4 bytes after its 2 x 2 numbers");
    refused(head + raw<float>({1, 2, 3, 4, 5, 6, 7, NAN}),
            "nan at row 1, column 1, imaginary part (counted from 0)");
    refused(make_npy_header("<c16", shape) + raw<double>({1, 2, 1e300, 4, 5, 6, 7, 8}),
            "1e+300 at row 0, column 1: too large for float32");
    for (const char* type : {"<c4", "<c32", "<c", "<c9", "<c86", "<c16x"})
        refused(make_npy_header(type, shape) + raw<float>({1, 2, 3, 4, 5, 6, 7, 8}), "not known");
    const std::array<std::size_t, 2> huge{std::size_t{1} << 62U, 2};
    refused(make_npy_header("<c8", huge) + raw<float>({1, 2}), "is truncated");
}

TEST(ComplexNpz, IsNoMoreThanTheArchiveWarrants) {
    const TestFolder folder;
    const Batch batch = parts(3, 2);
    write_npz(folder / "x.npz", std::array{NpzArray{"a", complex_view(batch)}});
    const UserArray back = read_user_array((folder / "x.npz:a").string(), Numbers::real);
    EXPECT_TRUE(back.complex());
    EXPECT_EQ(back.to_float32(), batch);
    EXPECT_THROW(read_npz(folder / "x.npz"), Error);
    EXPECT_THROW(read_npz(folder / "x.npz", "a"), Error);
}

struct MatFree {
    void operator()(mat_t* file) const { Mat_Close(file); }
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};

template <class T>
void write_complex_mat(const std::filesystem::path& path, mat_ft version, matio_compression packed,
                       matio_classes kind, matio_types type, std::vector<T> re, std::vector<T> im) {
    const std::unique_ptr<mat_t, MatFree> file(Mat_CreateVer(path.c_str(), nullptr, version));
    ASSERT_TRUE(file);
    std::size_t dims[2] = {2, re.size() / 2};
    mat_complex_split_t both{re.data(), im.data()};
    const std::unique_ptr<matvar_t, MatFree> variable(
        Mat_VarCreate("A", kind, type, 2, dims, &both, MAT_F_COMPLEX));
    ASSERT_EQ(Mat_VarWrite(file.get(), variable.get(), packed), 0);
}

TEST(ComplexMat, IsReadInEveryVersionAndType) {
    const TestFolder folder;
    const std::string place = (folder / "a.mat").string();
    Batch expected(2, 6);
    // Column by column: 1 - 1j, 2 - 2j; 3 - 3j, 4 - 4j; 5 - 5j, 6 - 6j.
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            expected(i, 2 * j) = static_cast<float>(2 * j + i + 1);
            expected(i, 2 * j + 1) = -expected(i, 2 * j);
        }
    for (const auto& [version, packed] : {std::pair{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                                          std::pair{MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                                          std::pair{MAT_FT_MAT73, MAT_COMPRESSION_NONE},
                                          std::pair{MAT_FT_MAT73, MAT_COMPRESSION_ZLIB}}) {
        const auto expect = [&, version = version](bool precise) {
            const UserArray a = read_user_array(place, Numbers::real);
            EXPECT_TRUE(a.complex()) << version;
            EXPECT_EQ(a.precise(), precise) << version;
            EXPECT_EQ(a.to_float32(), expected) << version;
            EXPECT_THROW(read_array(place), Error);
        };
        write_complex_mat<double>(place, version, packed, MAT_C_DOUBLE, MAT_T_DOUBLE,
                                  {1, 2, 3, 4, 5, 6}, {-1, -2, -3, -4, -5, -6});
        expect(true);
        write_complex_mat<float>(place, version, packed, MAT_C_SINGLE, MAT_T_SINGLE,
                                 {1, 2, 3, 4, 5, 6}, {-1, -2, -3, -4, -5, -6});
        expect(false);
        write_complex_mat<std::int16_t>(place, version, packed, MAT_C_INT16, MAT_T_INT16,
                                        {1, 2, 3, 4, 5, 6}, {-1, -2, -3, -4, -5, -6});
        expect(false);
        write_complex_mat<double>(place, version, packed, MAT_C_DOUBLE, MAT_T_DOUBLE, {1, 2, 3, 4},
                                  {0, 0, 0, INFINITY});
        EXPECT_NE(message_of([&] {
                      read_user_array(place, Numbers::real);
                  }).find("inf at row 1, column 1, imaginary part"),
                  std::string::npos);
    }
}

/// 3 x 2: entry (2, 0) is 5 + 1i, entry (0, 1) is -4i, entry (1, 1) is `last`.
void write_complex_sparse(const std::string& place, mat_ft version, matio_compression packed,
                          double last) {
    const std::unique_ptr<mat_t, MatFree> file(Mat_CreateVer(place.c_str(), nullptr, version));
    mat_uint32_t rows[3] = {2, 0, 1}, starts[3] = {0, 1, 3};
    double re[3] = {5, 0, last}, im[3] = {1, -4, 0};
    mat_complex_split_t both{re, im};
    mat_sparse_t sparse{3, rows, 3, starts, 3, 3, &both};
    std::size_t dims[2] = {3, 2};
    const std::unique_ptr<matvar_t, MatFree> variable(Mat_VarCreate(
        "S", MAT_C_SPARSE, MAT_T_DOUBLE, 2, dims, &sparse, MAT_F_DONT_COPY_DATA | MAT_F_COMPLEX));
    ASSERT_EQ(Mat_VarWrite(file.get(), variable.get(), packed), 0);
}

TEST(ComplexMat, ThatIsSparseIsReadInEveryVersion) {
    const TestFolder folder;
    const std::string place = (folder / "s.mat").string();
    for (const auto& [version, packed] : {std::pair{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                                          std::pair{MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                                          std::pair{MAT_FT_MAT73, MAT_COMPRESSION_NONE}}) {
        write_complex_sparse(place, version, packed, 0.25);
        const auto sparse = read_sparse_array(place);
        ASSERT_TRUE(sparse && sparse->complex()) << version;
        EXPECT_EQ(sparse->rows, 3U);
        EXPECT_EQ(sparse->offsets, (std::vector<std::uint32_t>{0, 1, 3}));
        EXPECT_EQ(sparse->row_indices, (std::vector<std::uint32_t>{2, 0, 1}));
        EXPECT_EQ(sparse->values, (std::vector<double>{5, 0, 0.25}));
        EXPECT_EQ(sparse->imaginary, (std::vector<double>{1, -4, 0}));
        const UserArray full = read_user_array(place, Numbers::real);
        Batch expected(3, 4);
        expected(2, 0) = 5;
        expected(2, 1) = 1;
        expected(0, 3) = -4;
        expected(1, 2) = 0.25F;
        EXPECT_TRUE(full.complex());
        EXPECT_EQ(full.to_float32(), expected) << version;
        EXPECT_THROW(read_array(place), Error);
        write_complex_sparse(place, version, packed, INFINITY);
        EXPECT_NE(message_of([&] { read_sparse_array(place); }).find("inf at row 1, column 1"),
                  std::string::npos);
    }
}

TEST(UserArray, HoldsComplexNumbersInTwoColumns) {
    Matrix<Complex> a(2, 3);
    Matrix<std::complex<double>> b(2, 3);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a.values()[i] = {static_cast<float>(i), -1};
        b.values()[i] = {static_cast<double>(i), 0.1};
    }
    const UserArray single(a), twice(b);
    EXPECT_TRUE(single.complex() && twice.complex() && twice.precise() && !single.precise());
    EXPECT_EQ(single.entries(), 3u);
    EXPECT_EQ(single.cols(), 6u);
    EXPECT_EQ(twice(1, 4), 5);
    EXPECT_EQ(twice(1, 5), 0.1);
    const UserArray split = twice.split();
    EXPECT_FALSE(split.complex());
    EXPECT_TRUE(split.precise());
    EXPECT_EQ(split(1, 2), 5);
    EXPECT_EQ(split(1, 3), 0.1);
    EXPECT_EQ(UserArray(parts(2, 2)).split(), UserArray(parts(2, 2)));
    EXPECT_THROW(UserArray(Batch(2, 3)).as_complex(), Error);
}

}  // namespace
}  // namespace pibinn
