#include <limits>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "data/bytes.hpp"
#include "data/zip.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kUtf8Names = 1 << 11;
constexpr std::uint32_t kMidnight1980 = 0x00210000;  // the first date zip knows: 1980-01-01 00:00

}  // namespace

ZipWriter::ZipWriter(std::filesystem::path path) : where_(path.string()), file_(std::move(path)) {}

void ZipWriter::write(const std::string& bytes) {
    file_.write(bytes);
    written_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::string_view content) {
    constexpr std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
    if (written_ + name.size() + content.size() + 64 >= limit)
        fail_usage(fmt::format("'{}' would pass 4 GiB with {} of {} bytes", where_, shown(name),
                               content.size()),
                   "write large arrays as .npy files of their own");
    if (entries_ == std::numeric_limits<std::uint16_t>::max() - 1 || name.size() > 1024)
        fail_usage(fmt::format("{} does not fit '{}'", shown(name), where_),
                   "an archive holds at most 65534 files, with names of at most 1024 bytes");

    const auto size = static_cast<std::uint32_t>(content.size());
    const auto crc = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
    // The part that the local header and the directory share.
    std::string shared;
    append_little(shared, kVersion);
    append_little(shared, kUtf8Names);
    append_little(shared, std::uint16_t{0});  // stored
    append_little(shared, kMidnight1980);
    append_little(shared, crc);
    append_little(shared, size);
    append_little(shared, size);
    append_little(shared, static_cast<std::uint16_t>(name.size()));
    append_little(shared, std::uint16_t{0});  // no extra field

    directory_ += "PK\x01\x02";
    append_little(directory_, kVersion);
    directory_ += shared;
    append_little(directory_, std::uint16_t{0});  // no comment
    append_little(directory_, std::uint16_t{0});  // disk
    append_little(directory_, std::uint16_t{0});  // internal attributes
    append_little(directory_, std::uint32_t{0});  // external attributes
    append_little(directory_, static_cast<std::uint32_t>(written_));
    directory_ += name;

    write("PK\x03\x04" + shared + name);
    file_.write(content.data(), content.size());
    written_ += content.size();
    ++entries_;
}

void ZipWriter::finish() {
    std::string end = "PK\x05\x06";
    append_little(end, std::uint32_t{0});  // disks
    append_little(end, entries_);
    append_little(end, entries_);
    append_little(end, static_cast<std::uint32_t>(directory_.size()));
    append_little(end, static_cast<std::uint32_t>(written_));
    append_little(end, std::uint16_t{0});  // no comment
    write(directory_ + end);
    file_.commit();
}

}  // namespace pibinn
