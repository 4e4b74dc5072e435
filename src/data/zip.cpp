#include "data/zip.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <zlib.h>

#include "data/bytes.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryHeader = 0x02014b50;
constexpr std::uint32_t kEndRecord = 0x06054b50;
constexpr std::uint32_t kEndRecord64 = 0x06064b50;
constexpr std::uint32_t kEndLocator64 = 0x07064b50;
constexpr std::size_t kEndSize = 22;
constexpr std::uint32_t kFull32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint16_t kFull16 = std::numeric_limits<std::uint16_t>::max();

// Two bits of deflate give at most 258 bytes, so no honest entry grows by more than this.
constexpr std::uint64_t kLargestRatio = 1032;
constexpr std::uint64_t kLargestInflated = std::uint64_t{1} << 31;

[[noreturn]] void fail_damaged(const std::string& where, const std::string& why) {
    fail_input(fmt::format("'{}' is a damaged zip archive: {}", where, why),
               "copy or save the file again");
}

/// The part [at, at + length) of an archive, or an error that says what does not fit.
std::string_view part(std::string_view archive, std::uint64_t at, std::uint64_t length,
                      std::string_view what, const std::string& where) {
    if (at > archive.size() || length > archive.size() - at)
        fail_damaged(where, fmt::format("{} at {} has {} bytes, the file {}", what, at, length,
                                        archive.size()));
    return archive.substr(at, length);
}

void expect_signature(std::string_view archive, std::uint64_t at, std::uint32_t signature,
                      std::string_view what, const std::string& where) {
    if (load_little<std::uint32_t>(archive, at, where) != signature)
        fail_damaged(where, fmt::format("no {} at {}", what, at));
}

std::uint64_t find_end_record(std::string_view archive, const std::string& where) {
    if (archive.size() >= kEndSize) {
        const std::uint64_t last = archive.size() - kEndSize;
        const std::uint64_t first = last > kFull16 ? last - kFull16 : 0;
        for (std::uint64_t at = last + 1; at-- > first;)
            if (load_little<std::uint32_t>(archive, at, where) == kEndRecord &&
                load_little<std::uint16_t>(archive, at + 20, where) == last - at)
                return at;
    }
    fail_input(fmt::format("'{}' is not a zip archive: it has no directory at its end", where),
               archive.starts_with("\x93NUMPY") ? "it looks like a single array: name it .npy"
                                                : "save the arrays with numpy.savez");
}

/// Sizes and places that do not fit 32 bits stand in an extra field, in this order.
void read_extra64(ZipEntry& entry, std::string_view extra, const std::string& where) {
    std::vector<std::uint64_t*> wanted;
    for (std::uint64_t* value : {&entry.size, &entry.packed_size, &entry.header_offset})
        if (*value == kFull32) wanted.push_back(value);
    while (!wanted.empty() && extra.size() >= 4) {
        const auto id = load_little<std::uint16_t>(extra, 0, where);
        const auto length = load_little<std::uint16_t>(extra, 2, where);
        const std::string_view field = part(extra, 4, length, "an extra field", where);
        extra.remove_prefix(4 + std::size_t{length});
        if (id != 1) continue;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            *wanted[i] = load_little<std::uint64_t>(field, 8 * i, where);
        return;
    }
}

ZipEntry read_directory_entry(std::string_view directory, std::uint64_t& at,
                              const std::string& where) {
    const auto u16 = [&](std::uint64_t o) {
        return load_little<std::uint16_t>(directory, at + o, where);
    };
    const auto u32 = [&](std::uint64_t o) {
        return load_little<std::uint32_t>(directory, at + o, where);
    };
    expect_signature(directory, at, kDirectoryHeader, "entry of the directory", where);
    constexpr std::uint64_t fixed = 46;
    ZipEntry entry;
    entry.encrypted = (u16(8) & 1) != 0;
    entry.method = u16(10);
    entry.crc = u32(16);
    entry.packed_size = u32(20);
    entry.size = u32(24);
    entry.header_offset = u32(42);
    const std::uint64_t name = u16(28), extra = u16(30), comment = u16(32);
    entry.name = part(directory, at + fixed, name, "a name in the directory", where);
    read_extra64(entry, part(directory, at + fixed + name, extra, "an extra field", where), where);
    at += fixed + name + extra + comment;
    return entry;
}

/// The packed bytes of an entry, found through its own header, which must have the same name.
std::string_view packed_bytes(std::string_view archive, const ZipEntry& entry,
                              const std::string& where) {
    if (entry.encrypted)
        fail_input(fmt::format("{} in '{}' is encrypted", shown(entry.name), where),
                   "save the arrays with numpy.savez");
    if (entry.method != 0 && entry.method != 8)
        fail_input(fmt::format("{} in '{}' is packed by method {}; stored (0) and deflated (8) are "
                               "known",
                               shown(entry.name), where, entry.method),
                   "save the arrays with numpy.savez or numpy.savez_compressed");
    const std::uint64_t at = entry.header_offset;
    expect_signature(archive, at, kLocalHeader, "header of " + shown(entry.name), where);
    const std::uint64_t name = load_little<std::uint16_t>(archive, at + 26, where);
    const std::uint64_t extra = load_little<std::uint16_t>(archive, at + 28, where);
    if (part(archive, at + 30, name, "a name", where) != entry.name)
        fail_damaged(where, "the name of " + shown(entry.name) + " differs from its header's");
    if (entry.method == 0 && entry.size != entry.packed_size)
        fail_damaged(where, fmt::format("{} is stored in {} bytes but said to have {}",
                                        shown(entry.name), entry.packed_size, entry.size));
    if (entry.method == 8 && entry.size / kLargestRatio > entry.packed_size)
        fail_damaged(where, fmt::format("{} is said to grow from {} to {} bytes, which deflate "
                                        "cannot do",
                                        shown(entry.name), entry.packed_size, entry.size));
    return part(archive, at + 30 + name + extra, entry.packed_size, shown(entry.name), where);
}

/// Inflates at most `limit` bytes; `ended` tells whether the stream ended within them.
std::string inflate_start(std::string_view packed, std::size_t limit, bool& ended) {
    struct Inflater {
        z_stream stream{};
        Inflater() { ensure(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib starts"); }
        ~Inflater() { inflateEnd(&stream); }
    } inflater;
    z_stream& stream = inflater.stream;
    constexpr std::size_t piece = std::size_t{1} << 30;  // zlib counts in 32 bits
    std::string result(limit, '\0');
    std::size_t done = 0;
    int status = Z_OK;
    while (status == Z_OK && done < limit) {
        const std::size_t in = std::min(packed.size(), piece);
        const std::size_t out = std::min(limit - done, piece);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
        stream.avail_in = static_cast<uInt>(in);
        stream.next_out = reinterpret_cast<Bytef*>(result.data() + done);
        stream.avail_out = static_cast<uInt>(out);
        status = inflate(&stream, Z_NO_FLUSH);
        packed.remove_prefix(in - stream.avail_in);
        done += out - stream.avail_out;
    }
    ended = status == Z_STREAM_END;
    result.resize(done);
    return result;
}

}  // namespace

std::vector<ZipEntry> list_zip(std::string_view archive, const std::string& where) {
    const std::uint64_t end = find_end_record(archive, where);
    std::uint64_t count = load_little<std::uint16_t>(archive, end + 10, where);
    std::uint64_t size = load_little<std::uint32_t>(archive, end + 12, where);
    std::uint64_t offset = load_little<std::uint32_t>(archive, end + 16, where);
    if (count == kFull16 || size == kFull32 || offset == kFull32) {
        if (end < 20) fail_damaged(where, "no place for a zip64 locator");
        expect_signature(archive, end - 20, kEndLocator64, "zip64 locator", where);
        const auto end64 = load_little<std::uint64_t>(archive, end - 12, where);
        part(archive, end64, 56, "the zip64 end record", where);
        expect_signature(archive, end64, kEndRecord64, "zip64 end record", where);
        count = load_little<std::uint64_t>(archive, end64 + 32, where);
        size = load_little<std::uint64_t>(archive, end64 + 40, where);
        offset = load_little<std::uint64_t>(archive, end64 + 48, where);
    }
    const auto directory =
        part(archive.substr(0, end), offset, size, "the directory of the archive", where);
    std::vector<ZipEntry> entries;
    std::set<std::string> names;
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        entries.push_back(read_directory_entry(directory, at, where));
        if (!names.insert(entries.back().name).second)
            fail_damaged(where, "it has " + shown(entries.back().name) + " twice");
    }
    if (at != directory.size())
        fail_damaged(where, fmt::format("its directory has {} bytes, its {} entries {}",
                                        directory.size(), count, at));
    return entries;
}

std::string read_zip_start(std::string_view archive, const ZipEntry& entry, std::size_t limit,
                           const std::string& where) {
    const std::string_view packed = packed_bytes(archive, entry, where);
    const std::size_t length = std::min<std::uint64_t>(limit, entry.size);
    bool ended = false;
    return entry.method == 0 ? std::string(packed.substr(0, length))
                             : inflate_start(packed, length, ended);
}

std::string read_zip_entry(std::string_view archive, const ZipEntry& entry,
                           const std::string& where) {
    const std::string_view packed = packed_bytes(archive, entry, where);
    std::string content;
    if (entry.method == 0) {
        content = packed;
    } else {
        if (entry.size > kLargestInflated)
            fail_input(fmt::format("{} in '{}' inflates to {} bytes; at most {} are read",
                                   shown(entry.name), where, entry.size, kLargestInflated),
                       "save it uncompressed, with numpy.savez or numpy.save");
        bool ended = false;
        content = inflate_start(packed, entry.size + 1, ended);  // one more, to see a longer stream
        if (content.size() > entry.size)
            fail_damaged(where, fmt::format("{} inflates to more than the {} bytes it is said to "
                                            "have",
                                            shown(entry.name), entry.size));
        if (!ended || content.size() != entry.size)
            fail_damaged(where, fmt::format("{} inflates to {} bytes and is said to have {}",
                                            shown(entry.name), content.size(), entry.size));
    }
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    if (crc != entry.crc)
        fail_damaged(where, fmt::format("the CRC of {} is {:08x}, not {:08x}", shown(entry.name),
                                        crc, entry.crc));
    return content;
}

}  // namespace pibinn
