// A MATLAB file of version 7.3, which is HDF5; read as mat.cpp says.
#include "harness.hpp"
#include "mat_mutator.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::keep_children_apart();
    return fuzz::survive([&] {
        const Digits digits = size > 0 && data[size - 1] % 2 != 0 ? Digits::all : Digits::float32;
        fuzz::require_finite(
            fuzz::array_format(".mat").read(fuzz::as_named_file(data, size), "", digits));
    });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_mat73);
}
