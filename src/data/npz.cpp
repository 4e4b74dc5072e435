#include "pibinn/npz.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "core/file.hpp"
#include "core/names.hpp"
#include "data/bytes.hpp"
#include "data/claims.hpp"
#include "data/npy_format.hpp"
#include "data/npz_archive.hpp"
#include "data/scipy_sparse.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::string_view kSuffix = ".npy";

std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 12;
    std::string list;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        list += (i ? ", " : "") + shown(names[i]);
    if (names.size() > most) list += fmt::format(" and {} more", names.size() - most);
    return list;
}

template <class T>
std::string encode(std::string_view descr, MatrixView<const T> values) {
    std::string bytes = make_npy_header(descr, std::array{values.rows, values.cols});
    for (std::size_t i = 0; i < values.rows; ++i)
        bytes.append(reinterpret_cast<const char*>(values.row(i).data()), values.cols * sizeof(T));
    return bytes;
}

template <class T>
std::string encode(std::string_view descr, std::span<const T> values) {
    std::string bytes = make_npy_header(descr, std::array{values.size()});
    return bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

struct Encoder {
    std::string operator()(ConstBatchView values) const { return encode("<f4", values); }
    std::string operator()(std::span<const float> values) const { return encode("<f4", values); }
    std::string operator()(MatrixView<const std::uint8_t> values) const {
        return encode("|u1", values);
    }
    std::string operator()(std::span<const std::uint8_t> values) const {
        return encode("|u1", values);
    }
    std::string operator()(MatrixView<const std::complex<float>> values) const {
        return encode("<c8", values);
    }
};

}  // namespace

NpzArchive open_npz(const std::filesystem::path& path) {
    NpzArchive archive{path.string(), read_file(path), {}, {}};
    for (ZipEntry& entry : list_zip(archive.bytes, archive.where)) {
        if (!entry.name.ends_with(kSuffix)) continue;
        archive.names.push_back(entry.name.substr(0, entry.name.size() - kSuffix.size()));
        archive.arrays.push_back(std::move(entry));
    }
    return archive;
}

bool NpzArchive::has(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string NpzArchive::place_of(std::string_view name) const {
    return where + ":" + excerpt(name);
}

const ZipEntry& NpzArchive::entry(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return arrays[static_cast<std::size_t>(found - names.begin())];
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string near = nearest_name(name, known);
    fail_input(fmt::format("'{}' has no array {}", where, shown(name)),
               !near.empty()   ? "did you mean " + shown(near) + "?"
               : names.empty() ? "it holds no arrays at all"
                               : "it holds " + list_of(names));
}

std::string NpzArchive::content(std::string_view name, Digits digits) const {
    const ZipEntry& found = entry(name);
    // The header is read alone first, so that a bomb is refused before it is inflated.
    const std::string start = read_zip_start(bytes, found, npy_longest_header, where);
    const NpyFormat format = parse_npy_header(start, found.size, place_of(name));
    const double numbers = static_cast<double>(format.rows) * static_cast<double>(format.columns());
    const double width =
        digits == Digits::all && format.beyond_float32() ? sizeof(double) : sizeof(float);
    require_claim(
        static_cast<double>(found.size) + width * numbers, claim_factor::arrays, found.packed_size,
        fmt::format("'{}' with {} x {} numbers", place_of(name), format.rows, format.cols),
        "save it uncompressed, with numpy.savez or numpy.save");
    return read_zip_entry(bytes, found, where);
}

UserArray NpzArchive::read(std::string_view name, Digits digits) const {
    return decode_npy(content(name, digits), place_of(name), digits);
}

std::vector<std::int64_t> NpzArchive::read_integers(std::string_view name) const {
    return decode_npy_integers(content(name, Digits::all), place_of(name));
}

std::string NpzArchive::read_text(std::string_view name) const {
    const ZipEntry& found = entry(name);
    if (found.size > npy_longest_header)
        fail_input(fmt::format("'{}' has {} bytes of text", place_of(name), found.size),
                   "save the file again");
    return decode_npy_text(read_zip_entry(bytes, found, where), place_of(name));
}

std::vector<std::string> npz_names(const std::filesystem::path& path) {
    return open_npz(path).names;
}

Batch read_npz(const std::filesystem::path& path, const std::string& name) {
    const NpzArchive archive = open_npz(path);
    return real_numbers(archive.read(name, Digits::float32), archive.place_of(name));
}

Batch read_npz(const std::filesystem::path& path) {
    return real_numbers(read_only_array(open_npz(path), Digits::float32), path.string());
}

UserArray read_only_array(const NpzArchive& archive, Digits digits) {
    if (archive.arrays.empty())
        fail_input(fmt::format("'{}' holds no arrays", archive.where),
                   "save the arrays with numpy.savez");
    if (const auto sparse = read_scipy_sparse(archive)) {
        require_full_claim(sparse->rows, sparse->cols * (sparse->complex() ? 2 : 1),
                           archive.bytes.size(), archive.where, digits);
        return full_array(*sparse, archive.where, digits);
    }
    if (archive.arrays.size() > 1)
        fail_input(fmt::format("'{}' holds {} arrays: {}", archive.where, archive.arrays.size(),
                               list_of(archive.names)),
                   fmt::format("name one of them, such as '{}:NAME'", archive.where));
    return archive.read(archive.names.front(), digits);
}

void write_npz(const std::filesystem::path& path, std::span<const NpzArray> arrays) {
    ZipWriter archive(path);
    std::set<std::string_view> names;
    for (const NpzArray& array : arrays) {
        if (array.name.empty() || !names.insert(array.name).second)
            fail_usage(
                fmt::format("'{}' cannot hold an array named {}", path.string(), shown(array.name)),
                "every array needs a name of its own");
        archive.add(array.name + std::string(kSuffix), std::visit(Encoder{}, array.values));
    }
    archive.finish();
}

}  // namespace pibinn
