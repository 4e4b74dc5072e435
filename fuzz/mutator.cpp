#include "mutator.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <zlib.h>

namespace pibinn::fuzz {

std::uint64_t Dice::size() {
    switch (below(8)) {
        case 0:
            return (std::uint64_t{1} << below(64)) + below(3) - 1;
        case 1:
            return engine_() >> below(64);
        default:
            return below(12);
    }
}

float Dice::number() {
    using Limits = std::numeric_limits<float>;
    return of({0.0F, -0.0F, 1.0F, -1.0F, 0.5F, -5.0F, 1e-3F, 1e30F, Limits::max(), Limits::lowest(),
               Limits::min(), Limits::denorm_min(), Limits::infinity(), -Limits::infinity(),
               Limits::quiet_NaN()});
}

std::string mutate_bytes(std::string_view bytes, std::size_t most) {
    std::string changed(bytes.substr(0, most));
    const std::size_t size = changed.size();
    changed.resize(std::max(most, std::size_t{1}));
    changed.resize(
        LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(changed.data()), size, changed.size()));
    return changed;
}

std::size_t mutate_file(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                        FormatMutator mutate) {
    Dice dice(seed);
    if (dice.one_in(5)) return LLVMFuzzerMutate(data, size, most);
    const std::string changed = mutate({reinterpret_cast<const char*>(data), size}, most, dice);
    if (changed.empty() || changed.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::memcpy(data, changed.data(), changed.size());
    return changed.size();
}

std::string inflated(std::string_view packed, bool raw) {
    constexpr std::size_t most = std::size_t{1} << 22;
    z_stream stream{};
    if (inflateInit2(&stream, raw ? -MAX_WBITS : MAX_WBITS) != Z_OK) return {};
    std::string bytes(std::min(most, 1100 * packed.size() + 64), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    inflate(&stream, Z_FINISH);
    bytes.resize(bytes.size() - stream.avail_out);
    inflateEnd(&stream);
    return bytes;
}

std::string deflated(std::string_view bytes, bool raw) {
    z_stream stream{};
    if (deflateInit2(&stream, 1, Z_DEFLATED, raw ? -MAX_WBITS : MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return {};
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(packed.size() - stream.avail_out);
    deflateEnd(&stream);
    return packed;
}

}  // namespace pibinn::fuzz
