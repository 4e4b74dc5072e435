// A .npz archive: every array of it, and the sparse matrix that it may hold.
#include "pibinn/npz.hpp"
#include "data/npz_archive.hpp"
#include "data/scipy_sparse.hpp"
#include "harness.hpp"
#include "zip_mutator.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string path = fuzz::as_file(data, size);
    fuzz::survive([&] {
        const NpzArchive archive = open_npz(path);
        for (const std::string& name : archive.names)
            fuzz::survive([&] { fuzz::require_finite(archive.read(name, Digits::all)); });
    });
    fuzz::survive([&] { fuzz::array_format(".npz").read_sparse(path, ""); });
    fuzz::survive([&] { read_npz(path, "x"); });
    return fuzz::survive([&] { fuzz::read_both_ways(fuzz::array_format(".npz"), path); });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_zip);
}
