#include "pibinn/npz.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "core/file.hpp"
#include "core/names.hpp"
#include "data/bytes.hpp"
#include "data/npy_format.hpp"
#include "data/zip.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::string_view kSuffix = ".npy";

/// An archive in memory and the arrays it lists.
struct Archive {
    std::string where;
    std::string bytes;
    std::vector<ZipEntry> arrays;
    std::vector<std::string> names;
};

Archive open_archive(const std::filesystem::path& path) {
    Archive archive{path.string(), read_file(path), {}, {}};
    for (ZipEntry& entry : list_zip(archive.bytes, archive.where)) {
        if (!entry.name.ends_with(kSuffix)) continue;
        archive.names.push_back(entry.name.substr(0, entry.name.size() - kSuffix.size()));
        archive.arrays.push_back(std::move(entry));
    }
    return archive;
}

std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 12;
    std::string list;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        list += (i ? ", " : "") + shown(names[i]);
    if (names.size() > most) list += fmt::format(" and {} more", names.size() - most);
    return list;
}

Batch read_entry(const Archive& archive, const ZipEntry& entry) {
    const std::string_view name =
        std::string_view(entry.name).substr(0, entry.name.size() - kSuffix.size());
    const std::string where = archive.where + ":" + escaped(name);
    // The header is read alone first, so that a bomb is refused before it is inflated.
    const std::string start =
        read_zip_start(archive.bytes, entry, npy_longest_header, archive.where);
    parse_npy_header(start, entry.size, where);
    return decode_npy(read_zip_entry(archive.bytes, entry, archive.where), where);
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
};

}  // namespace

std::vector<std::string> npz_names(const std::filesystem::path& path) {
    return open_archive(path).names;
}

Batch read_npz(const std::filesystem::path& path, const std::string& name) {
    const Archive archive = open_archive(path);
    const auto found = std::find(archive.names.begin(), archive.names.end(), name);
    if (found == archive.names.end()) {
        const std::vector<std::string_view> names(archive.names.begin(), archive.names.end());
        const std::string near = nearest_name(name, names);
        fail_input(fmt::format("'{}' has no array {}", archive.where, shown(name)),
                   !near.empty()   ? "did you mean " + shown(near) + "?"
                   : names.empty() ? "it holds no arrays at all"
                                   : "it holds " + list_of(archive.names));
    }
    return read_entry(archive, archive.arrays[found - archive.names.begin()]);
}

Batch read_npz(const std::filesystem::path& path) {
    const Archive archive = open_archive(path);
    if (archive.arrays.empty())
        fail_input(fmt::format("'{}' holds no arrays", archive.where),
                   "save the arrays with numpy.savez");
    if (archive.arrays.size() > 1)
        fail_input(fmt::format("'{}' holds {} arrays: {}", archive.where, archive.arrays.size(),
                               list_of(archive.names)),
                   fmt::format("name one of them, such as '{}:NAME'", archive.where));
    return read_entry(archive, archive.arrays.front());
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
