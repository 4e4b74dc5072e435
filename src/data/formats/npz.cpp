#include <array>

#include "data/array_format.hpp"
#include "data/scipy_sparse.hpp"
#include "pibinn/npz.hpp"

namespace pibinn {

namespace {

// Archives have no zip64 records here, which limits them to 4 GiB with their headers.
constexpr std::uint64_t kMostBytes = 0xffff0000;

void save_npz(const NewArray& array, ConstBatchView values) {
    const std::string name = array.name.empty() ? name_from_file(array.file) : array.name;
    if (array.complex())
        write_npz(array.file, std::array{NpzArray{name, complex_view(values)}});
    else
        write_npz(array.file, std::array{NpzArray{name, values}});
}

}  // namespace

extern const ArrayFormat npz_format;
const ArrayFormat npz_format{
    .suffix = ".npz",
    .named = true,
    .text = false,
    .read =
        [](const std::string& file, const std::string& name, Digits digits) {
            const NpzArchive archive = open_npz(file);
            return name.empty() ? read_only_array(archive, digits) : archive.read(name, digits);
        },
    .read_sparse = [](const std::string& file,
                      const std::string& name) -> std::optional<SparseMatrix> {
        if (!name.empty()) return std::nullopt;
        return read_scipy_sparse(open_npz(file));
    },
    .open = nullptr,
    .create = [](const NewArray& array) { return hold_rows(array, kMostBytes, save_npz); },
    .require_name = nullptr};

}  // namespace pibinn
