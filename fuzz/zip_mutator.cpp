#include "zip_mutator.hpp"

#include <zlib.h>

#include "data/zip.hpp"
#include "npy_mutator.hpp"
#include "pibinn/error.hpp"

namespace pibinn::fuzz {

namespace {

std::vector<ZipMember> unpack(std::string_view bytes) {
    std::vector<ZipMember> members;
    try {
        for (const ZipEntry& entry : list_zip(bytes, "archive"))
            members.push_back(
                {entry.name, read_zip_entry(bytes, entry, "archive"), entry.method == 8});
    } catch (const Error&) {  // what was read so far is enough
    }
    return members;
}

}  // namespace

std::string pack_zip(const std::vector<ZipMember>& members) {
    std::string archive, directory;
    for (const ZipMember& member : members) {
        const std::string content = member.packed ? deflated(member.content, true) : member.content;
        const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(member.content.data()),
                                  member.content.size());
        const auto u16 = [](std::size_t v) { return bytes_of(static_cast<std::uint16_t>(v)); };
        const auto u32 = [](std::size_t v) { return bytes_of(static_cast<std::uint32_t>(v)); };
        const std::string facts = u16(20) + u16(0) + u16(member.packed ? 8 : 0) + u32(0x210000) +
                                  u32(crc) + u32(content.size()) + u32(member.content.size()) +
                                  u16(member.name.size()) + u16(0);
        directory += "PK\1\2" + u16(20) + facts + u16(0) + u16(0) + u16(0) + u32(0) +
                     u32(archive.size()) + member.name;
        archive += "PK\3\4" + facts + member.name + content;
    }
    const auto count = bytes_of(static_cast<std::uint16_t>(members.size()));
    return archive + directory + "PK\5\6" + std::string(4, '\0') + count + count +
           bytes_of(static_cast<std::uint32_t>(directory.size())) +
           bytes_of(static_cast<std::uint32_t>(archive.size())) + std::string(2, '\0');
}

std::string mutate_zip(std::string_view bytes, std::size_t most, Dice& dice) {
    std::vector<ZipMember> members = unpack(bytes);
    if (members.empty()) return {};
    const std::size_t i = dice.below(members.size());
    switch (dice.below(8)) {
        case 0:
            members[i].name =
                dice.of<const char*>({"x.npy", "data.npy", "indices.npy", "indptr.npy", "shape.npy",
                                      "format.npy", "row.npy", "col.npy", "offsets.npy", "", "a"});
            break;
        case 1:
            members[i].packed = !members[i].packed;
            break;
        case 2:
            members.push_back(members[i]);
            members.back().name += "2.npy";
            break;
        case 3:
            members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
            break;
        default: {
            const std::string changed = mutate_npy(members[i].content, most, dice);
            members[i].content = changed.empty() ? mutate_bytes(members[i].content, most) : changed;
        }
    }
    std::string archive = pack_zip(members);
    if (dice.one_in(6) && archive.size() > 8) {
        const auto field = bytes_of(static_cast<std::uint32_t>(dice.size()));
        archive.replace(dice.below(archive.size() - 4), 4, field);
    }
    return archive;
}

}  // namespace pibinn::fuzz
