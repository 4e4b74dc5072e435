// A .npy file: read whole, and row by row from the disk.
#include "pibinn/npy.hpp"
#include "harness.hpp"
#include "npy_mutator.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::survive([&] {
        const std::string path = fuzz::as_file(data, size);
        const auto rows = fuzz::array_format(".npy").open(path);
        const UserArray array = fuzz::read_both_ways(fuzz::array_format(".npy"), path);
        fuzz::require(array.complex() == (rows->numbers() == Numbers::complex),
                      "both readers see one kind of numbers");
        const Batch whole = array.to_float32();
        fuzz::require(whole.rows() == rows->rows() && whole.cols() == rows->cols(),
                      "both readers see one shape");
        fuzz::require(whole.size() <= size, "no more numbers than bytes");
        if (whole.rows() == 0) return;
        const Batch last = rows->read(whole.rows() - 1, 1);
        for (std::size_t j = 0; j < whole.cols(); ++j)
            fuzz::require(last(0, j) == whole(whole.rows() - 1, j), "both readers see one row");
    });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_npy);
}
