#include <array>
#include <cstring>
#include <vector>

#include <matio.h>

#include "core/file.hpp"
#include "data/npy_format.hpp"
#include "make_corpus.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "zip_mutator.hpp"

namespace pibinn::fuzz {

namespace {

template <class T>
std::string raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::string npy(const char* descr, std::vector<std::size_t> shape, const std::vector<T>& values) {
    return make_npy_header(descr, shape) + raw(values);
}

const std::vector<float> kSix{1, -2, 3.5F, 0, 1e-20F, 6};

std::vector<ZipMember> sparse_members() {
    std::string format = make_npy_header("|S3", std::vector<std::size_t>{}) + "csr";
    return {{"indices.npy", npy<std::int32_t>("<i4", {3}, {0, 2, 1}), true},
            {"indptr.npy", npy<std::int32_t>("<i4", {3}, {0, 2, 3}), false},
            {"format.npy", std::move(format), false},
            {"shape.npy", npy<std::int64_t>("<i8", {2}, {2, 3}), true},
            {"data.npy", npy<double>("<f8", {3}, {1, 2, 3}), false}};
}

void make_npy(const std::filesystem::path& f) {
    write_file(place(f, "corpus/npy/f4"), npy("<f4", {2, 3}, kSix));
    write_file(place(f, "corpus/npy/f8"), npy<double>("<f8", {1, 2}, {0.5, -7}));
    write_file(place(f, "corpus/npy/i8"), npy<std::int64_t>("<i8", {3}, {1, -2, 3}));
    write_file(place(f, "corpus/npy/u2-big"), npy<std::uint16_t>(">u2", {2, 2}, {1, 2, 3, 4}));
    write_file(place(f, "corpus/npy/f2"), npy<std::uint16_t>("<f2", {2, 1}, {0x3c00, 0x1}));
    write_file(place(f, "corpus/npy/bool"), npy<std::uint8_t>("|b1", {4}, {1, 0, 1, 1}));
    write_file(place(f, "corpus/npy/empty"), npy<float>("<f4", {0, 3}, {}));
    write_file(place(f, "corpus/npy/c8"), npy("<c8", {1, 3}, kSix));
    write_file(place(f, "corpus/npy/c16"), npy<double>("<c16", {2, 1}, {0.1, -7, 1e-300, 4}));
    write_file(place(f, "corpus/npy/c16-big"), npy<std::uint64_t>(">c16", {1}, {0xf03f, 0}));
    std::string turned = npy("<c8", {3, 1}, kSix);
    turned.replace(turned.find("False,"), 6, "True, ");
    write_file(place(f, "corpus/npy/c8-fortran"), turned);
    std::string fortran = npy("<f4", {3, 2}, kSix);
    fortran.replace(fortran.find("False,"), 6, "True, ");
    write_file(place(f, "corpus/npy/fortran"), fortran);
}

void make_npz(const std::filesystem::path& f) {
    const std::string array = npy("<f4", {2, 3}, kSix);
    write_file(place(f, "corpus/npz/stored"), pack_zip({{"x.npy", array, false}}));
    write_file(place(f, "corpus/npz/deflated"), pack_zip({{"x.npy", array, true}}));
    const std::string precise = npy<double>("<c16", {1, 2}, {0.1, -2, 3.5, 0});
    write_file(place(f, "corpus/npz/complex"), pack_zip({{"x.npy", precise, true}}));
    write_file(place(f, "corpus/npz/complex-single"),
               pack_zip({{"x.npy", npy("<c8", {3, 1}, kSix), false}}));
    std::vector<ZipMember> members = sparse_members();
    write_file(place(f, "corpus/npz/csr"), pack_zip(members));
    members[2].content.replace(members[2].content.size() - 3, 3, "csc");
    members[1].content = npy<std::int32_t>("<i4", {4}, {0, 1, 2, 3});
    members[0].content = npy<std::int32_t>("<i4", {3}, {0, 1, 1});
    write_file(place(f, "corpus/npz/csc"), pack_zip(members));
    members[2].content.replace(members[2].content.size() - 3, 3, "coo");
    members[0].name = "row.npy";
    members[1] = {"col.npy", npy<std::int32_t>("<i4", {3}, {0, 1, 2}), false};
    write_file(place(f, "corpus/npz/coo"), pack_zip(members));
    members[3].content = npy<std::int64_t>("<i8", {2}, {std::int64_t{1} << 30, 3});
    write_file(place(f, "findings/npz/large-sparse"), pack_zip(members));
}

void make_csv(const std::filesystem::path& f) {
    write_file(place(f, "corpus/csv/commas"), "1,2.5,-3e-2\n4,5,6\n");
    write_file(place(f, "corpus/csv/names"),
               "\xef\xbb\xbf"
               "a;b\r\n1;2\r\n# note\r\n\r\n3;4\r\n");
    write_file(place(f, "corpus/csv/spaces"), "  1 2\t3\n+4 5 6");
    write_file(place(f, "corpus/csv/complex"), "re1,im1,re2,im2\n0.1,-2,3,4e-7\n5,6,-0,8\n");
}

using Matrix = std::unique_ptr<matvar_t, decltype(&Mat_VarFree)>;

void write_mat(const std::filesystem::path& path, mat_ft version, matio_compression packed,
               Matrix variable) {
    const std::unique_ptr<mat_t, decltype(&Mat_Close)> file(
        Mat_CreateVer(path.c_str(), "MATLAB file of pibinn's fuzzers", version), &Mat_Close);
    if (!file || !variable || Mat_VarWrite(file.get(), variable.get(), packed) != 0)
        fail_io("cannot write '" + path.string() + "'");
}

Matrix full() {
    static std::array<std::size_t, 2> sides{2, 3};
    static std::array<double, 6> numbers{1, 2, 3, 4, 5, -6.5};
    return {Mat_VarCreate("x", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, sides.data(), numbers.data(), 0),
            &Mat_VarFree};
}

template <class T>
Matrix full_complex(matio_classes kind, matio_types type) {
    static std::array<std::size_t, 2> sides{2, 1};
    static std::array<T, 2> real{1, -2}, imaginary{3, 4};
    static mat_complex_split_t both{real.data(), imaginary.data()};
    return {Mat_VarCreate("x", kind, type, 2, sides.data(), &both, MAT_F_COMPLEX), &Mat_VarFree};
}

Matrix complex_double() { return full_complex<double>(MAT_C_DOUBLE, MAT_T_DOUBLE); }
Matrix complex_single() { return full_complex<float>(MAT_C_SINGLE, MAT_T_SINGLE); }

/// A compressed matrix whose list of row indices says that it has 4 GB.
std::string large_sparse(const std::string& file) {
    constexpr std::size_t header = 128, indices = header + 8 + 16 + 16 + 8;
    constexpr std::uint32_t compressed = 15;
    std::string element = file.substr(header);
    element.replace(indices - header + 4, 4, bytes_of(std::uint32_t{0xfffffff0}));
    const std::string packed = deflated(element);
    return file.substr(0, header) + bytes_of(compressed) +
           bytes_of(static_cast<std::uint32_t>(packed.size())) + packed;
}

Matrix sparse() {
    static std::array<std::size_t, 2> sides{2, 3};
    static std::array<mat_uint32_t, 3> rows{0, 1, 1};
    static std::array<mat_uint32_t, 4> starts{0, 1, 2, 3};
    static std::array<double, 3> numbers{1, 2, 3};
    static mat_sparse_t entries{3, rows.data(), 3, starts.data(), 4, 3, numbers.data()};
    return {Mat_VarCreate("x", MAT_C_SPARSE, MAT_T_DOUBLE, 2, sides.data(), &entries, 0),
            &Mat_VarFree};
}

Matrix sparse_complex() {
    static std::array<std::size_t, 2> sides{2, 3};
    static std::array<mat_uint32_t, 3> rows{0, 1, 1};
    static std::array<mat_uint32_t, 4> starts{0, 1, 2, 3};
    static std::array<double, 3> real{1, 0, -3}, imaginary{0, 2, 0.5};
    static mat_complex_split_t both{real.data(), imaginary.data()};
    static mat_sparse_t entries{3, rows.data(), 3, starts.data(), 4, 3, &both};
    return {
        Mat_VarCreate("x", MAT_C_SPARSE, MAT_T_DOUBLE, 2, sides.data(), &entries, MAT_F_COMPLEX),
        &Mat_VarFree};
}

void make_mat(const std::filesystem::path& f) {
    const auto plain = MAT_COMPRESSION_NONE, packed = MAT_COMPRESSION_ZLIB;
    write_mat(place(f, "corpus/mat/full"), MAT_FT_MAT5, plain, full());
    write_mat(place(f, "corpus/mat/packed"), MAT_FT_MAT5, packed, full());
    write_mat(place(f, "corpus/mat/sparse"), MAT_FT_MAT5, plain, sparse());
    write_mat(place(f, "corpus/mat/sparse-packed"), MAT_FT_MAT5, packed, sparse());
    write_mat(place(f, "corpus/mat/sparse-complex"), MAT_FT_MAT5, plain, sparse_complex());
    write_mat(place(f, "corpus/mat/sparse-complex-packed"), MAT_FT_MAT5, packed, sparse_complex());
    write_mat(place(f, "corpus/mat/complex"), MAT_FT_MAT5, plain, complex_double());
    write_mat(place(f, "corpus/mat/complex-packed"), MAT_FT_MAT5, packed, complex_single());
    write_file(place(f, "findings/mat/large-sparse"),
               large_sparse(read_file(f / "corpus/mat/sparse")));
    write_mat(place(f, "corpus/mat73/full"), MAT_FT_MAT73, plain, full());
    write_mat(place(f, "corpus/mat73/packed"), MAT_FT_MAT73, packed, full());
    write_mat(place(f, "corpus/mat73/sparse"), MAT_FT_MAT73, plain, sparse());
    write_mat(place(f, "corpus/mat73/sparse-complex"), MAT_FT_MAT73, plain, sparse_complex());
    write_mat(place(f, "corpus/mat73/complex"), MAT_FT_MAT73, plain, complex_double());
    write_mat(place(f, "corpus/mat73/complex-packed"), MAT_FT_MAT73, packed, complex_single());
}

}  // namespace

void make_arrays(const std::filesystem::path& folder) {
    make_npy(folder);
    make_npz(folder);
    make_csv(folder);
    make_mat(folder);
}

}  // namespace pibinn::fuzz
