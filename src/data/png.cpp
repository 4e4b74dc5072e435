#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <vector>

#include <png.h>

#include <fmt/format.h>

#include "data/image_codecs.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// libpng reports errors by a long jump, as libjpeg does: functions that it leaves hold no object
/// with a destructor.
struct PngDecoder {
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::string_view left;
    std::jmp_buf back;
    char message[128] = {};

    PngDecoder() {
        png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
        info = png ? png_create_info_struct(png) : nullptr;
        ensure(info != nullptr, "libpng could be started");
    }
    ~PngDecoder() { png_destroy_read_struct(&png, &info, nullptr); }
    PngDecoder(const PngDecoder&) = delete;
    PngDecoder& operator=(const PngDecoder&) = delete;

    [[noreturn]] static void fail(png_structp png, png_const_charp text) {
        auto* const self = static_cast<PngDecoder*>(png_get_error_ptr(png));
        std::strncpy(self->message, text, sizeof self->message - 1);
        std::longjmp(self->back, 1);
    }
    static void ignore(png_structp, png_const_charp) {}
    static void read(png_structp png, png_bytep into, std::size_t count) {
        auto* const self = static_cast<PngDecoder*>(png_get_io_ptr(png));
        if (self->left.size() < count) png_error(png, "the file ends too early");
        std::memcpy(into, self->left.data(), count);
        self->left.remove_prefix(count);
    }
};

bool read_png_header(PngDecoder& decoder, std::string_view bytes) {
    if (setjmp(decoder.back)) return false;
    decoder.left = bytes;
    png_set_read_fn(decoder.png, &decoder, PngDecoder::read);
    // Chunks that concern no pixel are passed over: libpng allocates what they say that they hold
    // (a text, a profile, Exif data) before it is there, whatever limit it is given.
    png_set_keep_unknown_chunks(decoder.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(decoder.png, decoder.info);
    return true;
}

/// Palettes become colours, small depths 8 bits; alpha goes.
bool expand(PngDecoder& decoder) {
    if (setjmp(decoder.back)) return false;
    png_set_expand(decoder.png);
    png_set_strip_alpha(decoder.png);
    png_set_interlace_handling(decoder.png);
    png_read_update_info(decoder.png, decoder.info);
    return true;
}

bool read_samples(PngDecoder& decoder, png_bytep* rows) {
    if (setjmp(decoder.back)) return false;
    png_read_image(decoder.png, rows);
    png_read_end(decoder.png, nullptr);
    return true;
}

}  // namespace

Image decode_png(std::string_view bytes, const std::string& where) {
    PngDecoder decoder;
    if (!read_png_header(decoder, bytes)) fail_decode("PNG", decoder.message, where);
    const std::size_t height = png_get_image_height(decoder.png, decoder.info);
    const std::size_t width = png_get_image_width(decoder.png, decoder.info);
    if (!expand(decoder)) fail_decode("PNG", decoder.message, where);
    const std::size_t row_bytes = png_get_rowbytes(decoder.png, decoder.info);
    const double samples_per_pixel =
        static_cast<double>(row_bytes + sizeof(png_bytep)) / static_cast<double>(width);
    require_picture_size(height, width, samples_per_pixel + sizeof(float), bytes.size(), where);
    const std::size_t channels = png_get_channels(decoder.png, decoder.info);
    const bool wide = png_get_bit_depth(decoder.png, decoder.info) == 16;
    std::vector<png_byte> samples(height * row_bytes);
    std::vector<png_bytep> rows(height);
    for (std::size_t i = 0; i < height; ++i) rows[i] = samples.data() + i * row_bytes;
    if (!read_samples(decoder, rows.data())) fail_decode("PNG", decoder.message, where);

    Image image(height, width);
    const auto value = [&](const png_byte* row, std::size_t at) {
        return wide ? static_cast<float>(row[2 * at] << 8 | row[2 * at + 1]) / 65535
                    : static_cast<float>(row[at]) / 255;
    };
    for (std::size_t i = 0; i < height; ++i)
        for (std::size_t j = 0; j < width; ++j) {
            const std::size_t at = j * channels;
            image(i, j) = channels < 3 ? value(rows[i], at)
                                       : luma(value(rows[i], at), value(rows[i], at + 1),
                                              value(rows[i], at + 2));
        }
    return image;
}

}  // namespace pibinn
