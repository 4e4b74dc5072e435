#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>
#include <png.h>

#include "core/file.hpp"
#include "core/test_folder.hpp"
#include "data/jpeg_bytes.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

/// A JPEG of the best quality whose pixels all have the samples given, in the colour space given.
inline std::string flat_jpeg(J_COLOR_SPACE space, const std::vector<unsigned char>& pixel,
                             std::size_t side, bool adobe = false, bool progressive = false) {
    JpegKind kind;
    kind.space = space;
    kind.channels = static_cast<int>(pixel.size());
    kind.side = static_cast<unsigned>(side);
    kind.adobe = adobe;
    kind.progressive = progressive;
    return jpeg_bytes(kind, [&](std::size_t, std::size_t j) { return pixel[j % pixel.size()]; });
}

/// The message of the Error that `work` throws.
template <class Work>
std::string message_of(Work&& work) {
    return error_of(std::forward<Work>(work)).what();
}

}  // namespace pibinn
