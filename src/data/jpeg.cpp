#include <csetjmp>
#include <cstdio>
#include <vector>

#include <jpeglib.h>
// jpeglib.h comes first.
#include <jerror.h>

#include "data/image_codecs.hpp"

namespace pibinn {

namespace {

// Every scan is a walk over all coefficients, even an empty one. Encoders write about 10.
constexpr int kMostScans = 64;

/// libjpeg reports errors by a long jump, which runs no destructors. The two functions that it
/// leaves therefore hold no object with a destructor.
struct JpegDecoder {
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX] = {};

    JpegDecoder() {
        info.err = jpeg_std_error(&errors);
        info.client_data = this;
        errors.error_exit = [](j_common_ptr common) {
            auto* const self = static_cast<JpegDecoder*>(common->client_data);
            self->errors.format_message(common, self->message);
            std::longjmp(self->back, 1);
        };
        // libjpeg only warns of damaged or truncated data and goes on with grey; here these
        // warnings are errors. Its other warnings concern no pixel.
        errors.emit_message = [](j_common_ptr common, int level) {
            const int code = common->err->msg_code;
            if (level < 0 && (code == JWRN_HIT_MARKER || code == JWRN_JPEG_EOF ||
                              code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC))
                common->err->error_exit(common);
        };
        errors.output_message = [](j_common_ptr) {};
        progress.progress_monitor = [](j_common_ptr common) {
            auto* const self = static_cast<JpegDecoder*>(common->client_data);
            if (self->info.input_scan_number <= kMostScans) return;
            std::snprintf(self->message, sizeof self->message, "it has more than %d scans",
                          kMostScans);
            std::longjmp(self->back, 1);
        };
    }
    ~JpegDecoder() { jpeg_destroy_decompress(&info); }
    JpegDecoder(const JpegDecoder&) = delete;
    JpegDecoder& operator=(const JpegDecoder&) = delete;
};

bool read_jpeg_header(JpegDecoder& decoder, std::string_view bytes) {
    if (setjmp(decoder.back)) return false;
    jpeg_create_decompress(&decoder.info);
    decoder.info.progress = &decoder.progress;
    jpeg_mem_src(&decoder.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&decoder.info, TRUE);
    return true;
}

/// 8-bit samples of all rows, as many per pixel as `out_color_space` has.
bool read_samples(JpegDecoder& decoder, unsigned char* samples, std::size_t row_bytes) {
    if (setjmp(decoder.back)) return false;
    jpeg_start_decompress(&decoder.info);
    while (decoder.info.output_scanline < decoder.info.output_height) {
        JSAMPROW row = samples + decoder.info.output_scanline * row_bytes;
        jpeg_read_scanlines(&decoder.info, &row, 1);
    }
    jpeg_finish_decompress(&decoder.info);
    return true;
}

}  // namespace

Image decode_jpeg(std::string_view bytes, const std::string& where) {
    JpegDecoder decoder;
    if (!read_jpeg_header(decoder, bytes)) fail_decode("JPEG", decoder.message, where);
    jpeg_decompress_struct& info = decoder.info;
    const std::size_t height = info.image_height, width = info.image_width;
    const J_COLOR_SPACE stored = info.jpeg_color_space;
    const bool grey = stored == JCS_GRAYSCALE;
    const bool inks = stored == JCS_CMYK || stored == JCS_YCCK;
    info.out_color_space = grey ? JCS_GRAYSCALE : inks ? JCS_CMYK : JCS_RGB;
    info.dct_method = JDCT_ISLOW;  // the same values on every machine
    // Photoshop writes CMYK inverted, and every reader expects that.
    const bool inverted = info.saw_Adobe_marker;
    const std::size_t channels = grey ? 1 : inks ? 4 : 3;
    // A file of several scans is held as coefficients of 2 bytes first.
    const bool scans = jpeg_has_multiple_scans(&info) != 0;
    require_picture_size(height, width,
                         static_cast<double>(channels * (scans ? 3 : 1) + sizeof(float)),
                         bytes.size(), where);
    std::vector<unsigned char> samples(height * width * channels);
    if (!read_samples(decoder, samples.data(), width * channels))
        fail_decode("JPEG", decoder.message, where);

    Image image(height, width);
    for (std::size_t i = 0; i < image.size(); ++i) {
        const unsigned char* const s = &samples[i * channels];
        if (grey) {
            image.data()[i] = static_cast<float>(s[0]) / 255;
        } else if (inks) {
            const auto light = [&](int c) {
                return static_cast<float>(inverted ? s[c] : 255 - s[c]) / 255;
            };
            image.data()[i] = light(3) * luma(light(0), light(1), light(2));
        } else {
            image.data()[i] = luma(s[0], s[1], s[2]) / 255;
        }
    }
    return image;
}

}  // namespace pibinn
