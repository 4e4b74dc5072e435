// A MATLAB file of version 5: full and sparse. A child process reads it; what is tried here is that
// the parent survives whatever becomes of the child.
#include "harness.hpp"
#include "mat_mutator.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::keep_children_apart();
    const std::string path = fuzz::as_named_file(data, size);
    const ArrayFormat& format = fuzz::array_format(".mat");
    // A process takes long to start: every file is read in one of three ways.
    return fuzz::survive([&] {
        const unsigned way = size > 0 ? data[size - 1] % 3 : 0;
        if (way == 0)
            format.read_sparse(path, "x");
        else
            fuzz::require_finite(format.read(path, "", way == 1 ? Digits::all : Digits::float32));
    });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_mat);
}
