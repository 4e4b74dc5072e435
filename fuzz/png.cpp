// A PNG picture.
#include "data/image_codecs.hpp"
#include "harness.hpp"
#include "png_mutator.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::survive([&] {
        fuzz::require_finite(
            decode_png({reinterpret_cast<const char*>(data), size}, "picture.png"));
    });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_png);
}
