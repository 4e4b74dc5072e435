#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.hpp"

namespace pibinn {

/// A file inside a zip archive, as the archive's directory lists it. Reading the content checks all
/// of it.
struct ZipEntry {
    std::string name;
    std::uint16_t method = 0;  ///< 0 stored, 8 deflated
    bool encrypted = false;
    std::uint32_t crc = 0;
    std::uint64_t packed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t header_offset = 0;
};

/// The directory of an archive held in memory (zip64 included); `where` is the place errors name.
std::vector<ZipEntry> list_zip(std::string_view archive, const std::string& where);

/// The first `limit` bytes of an entry, or all of it when it is shorter. Not checked by a CRC.
std::string read_zip_start(std::string_view archive, const ZipEntry& entry, std::size_t limit,
                           const std::string& where);

/// The whole of an entry, its length and CRC checked. A deflated entry of over 2 GiB is refused.
std::string read_zip_entry(std::string_view archive, const ZipEntry& entry,
                           const std::string& where);

/// Writes an archive of stored files with a fixed date, so that the same content gives the same
/// bytes. Without finish() nothing is left behind.
class ZipWriter {
public:
    explicit ZipWriter(std::filesystem::path path);
    void add(const std::string& name, std::string_view content);
    void finish();

private:
    void write(const std::string& bytes);

    std::string where_;
    AtomicFile file_;
    std::uint64_t written_ = 0;
    std::uint16_t entries_ = 0;
    std::string directory_;
};

}  // namespace pibinn
