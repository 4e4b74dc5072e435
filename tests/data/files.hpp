#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include <png.h>
// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>

#include <gtest/gtest.h>

#include "core/file.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

/// A folder of one test, gone with it.
class TestFolder {
public:
    TestFolder() {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        path_ = std::filesystem::temp_directory_path() /
                ("pibinn-" + std::string(test->name()) + "-" + std::to_string(::getpid()));
        std::filesystem::create_directories(path_);
    }
    ~TestFolder() { std::filesystem::remove_all(path_); }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// A JPEG of the best quality whose pixels all have the samples given, in the colour space given.
inline std::string flat_jpeg(J_COLOR_SPACE space, std::vector<unsigned char> pixel,
                             std::size_t side, bool adobe = false, bool progressive = false) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* buffer = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &buffer, &size);
    info.image_width = info.image_height = static_cast<JDIMENSION>(side);
    info.input_components = static_cast<int>(pixel.size());
    info.in_color_space = space;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 100, TRUE);
    info.write_Adobe_marker = adobe ? TRUE : FALSE;
    if (progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    std::vector<unsigned char> row;
    for (std::size_t i = 0; i < side; ++i) row.insert(row.end(), pixel.begin(), pixel.end());
    for (std::size_t i = 0; i < side; ++i) {
        JSAMPROW at = row.data();
        jpeg_write_scanlines(&info, &at, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::string bytes(reinterpret_cast<char*>(buffer), size);
    std::free(buffer);
    return bytes;
}

/// The message of the Error that `work` throws.
template <class Work>
std::string message_of(Work&& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
}

}  // namespace pibinn
