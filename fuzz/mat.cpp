// A MATLAB file of version 5: full and sparse.
#include "harness.hpp"
#include "mat_mutator.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string path = fuzz::as_file(data, size);
    const ArrayFormat& format = fuzz::array_format(".mat");
    fuzz::survive([&] { format.read_sparse(path, "x"); });
    return fuzz::survive([&] { fuzz::require_finite(format.read(path, "")); });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_mat);
}
