// Which digits of an array file are read: float32 by default, all of them for problems.
#include <array>
#include <cstdint>
#include <fstream>

#include "data/files.hpp"
#include "data/npy_format.hpp"
#include "data/zip.hpp"
#include "pibinn/array.hpp"

namespace pibinn {
namespace {

template <class T>
std::string npy_of(std::string_view descr, const std::array<T, 4>& values) {
    std::string bytes = make_npy_header(descr, std::array<std::size_t, 2>{2, 2});
    return bytes.append(reinterpret_cast<const char*>(values.data()), sizeof values);
}

class FileDigits : public ::testing::Test {
protected:
    std::string file(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder / name, std::ios::binary) << bytes;
        return (folder / name).string();
    }
    TestFolder folder;
};

constexpr std::array<double, 4> kDigits{0.1, 1 + 1e-12, 123456789.25, -3e-9};

UserArray read_digits(const std::string& place) { return read_user_array(place, Numbers::real); }

void expect_digits(const UserArray& read, const std::string& place) {
    EXPECT_TRUE(read.precise()) << place;
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(read(i / 2, i % 2), kDigits[i]) << place;
    EXPECT_EQ(read.to_float32(), read_array(place)) << place;
}

TEST_F(FileDigits, OfFloat64AreAllRead) {
    const std::string npy = npy_of("<f8", kDigits);
    const std::string plain = file("x.npy", npy);
    expect_digits(read_digits(plain), plain);
    const std::string text = file("x.csv", "0.1, 1.000000000001\n123456789.25, -3e-9\n");
    expect_digits(read_digits(text), text);
    const std::string archive = (folder / "x.npz").string();
    ZipWriter zip(archive);
    zip.add("x.npy", npy);
    zip.finish();
    expect_digits(read_digits(archive), archive);
    expect_digits(read_digits(archive + ":x"), archive + ":x");
}

TEST_F(FileDigits, OfIntegersAreKeptWhereFloat32WouldRoundThem) {
    const std::array<std::int64_t, 4> wide{16777217, -3, 0, 123456789};
    const UserArray read = read_digits(file("wide.npy", npy_of("<i8", wide)));
    EXPECT_TRUE(read.precise());
    EXPECT_EQ(read(0, 0), 16777217.0);
    EXPECT_EQ(read(1, 1), 123456789.0);
    const std::array<std::uint32_t, 4> four{16777217, 3, 0, 4294967295};
    EXPECT_EQ(read_digits(file("four.npy", npy_of("<u4", four)))(1, 1), 4294967295.0);
    const std::array<std::int16_t, 4> two{-32768, 3, 0, 32767};
    EXPECT_FALSE(read_digits(file("two.npy", npy_of("<i2", two))).precise());
}

TEST_F(FileDigits, OfFloat32TakeNoMoreMemory) {
    const std::array<float, 4> values{0.1F, 2, 3, 4};
    const UserArray read = read_digits(file("x.npy", npy_of("<f4", values)));
    EXPECT_FALSE(read.precise());
    EXPECT_EQ(read(0, 0), double{0.1F});
}

TEST_F(FileDigits, BeyondFloat32AreRefusedEitherWay) {
    const std::string npy = file("x.npy", npy_of("<f8", std::array<double, 4>{1, 2, 1e39, 4}));
    for (const auto& read :
         {message_of([&] { read_array(npy); }), message_of([&] { read_digits(npy); })})
        EXPECT_NE(read.find("1e+39 at row 1, column 0: too large for float32"), std::string::npos);
    const std::string text = file("x.csv", "1e39\n");
    EXPECT_NE(message_of([&] { read_digits(text); }).find("not a finite float32"),
              std::string::npos);
}

}  // namespace
}  // namespace pibinn
