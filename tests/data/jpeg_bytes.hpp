#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>

namespace pibinn {

struct JpegKind {
    J_COLOR_SPACE space = JCS_RGB;
    int channels = 3;
    unsigned side = 8;
    int quality = 100;
    std::optional<bool> adobe = {};  ///< the marker; without a word, as libjpeg does
    bool progressive = false;
};

/// A square JPEG; `sample` gives number j of row i.
inline std::string jpeg_bytes(
    const JpegKind& kind, const std::function<unsigned char(std::size_t, std::size_t)>& sample) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* buffer = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &buffer, &size);
    info.image_width = info.image_height = kind.side;
    info.input_components = kind.channels;
    info.in_color_space = kind.space;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, kind.quality, TRUE);
    if (kind.adobe) info.write_Adobe_marker = *kind.adobe ? TRUE : FALSE;
    if (kind.progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    std::vector<unsigned char> row(kind.side * static_cast<unsigned>(kind.channels));
    for (std::size_t i = 0; i < kind.side; ++i) {
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = sample(i, j);
        JSAMPROW at = row.data();
        jpeg_write_scanlines(&info, &at, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::string bytes(reinterpret_cast<char*>(buffer), size);
    std::free(buffer);
    return bytes;
}

}  // namespace pibinn
