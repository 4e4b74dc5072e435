// From a bit for every entry to the list of entries that are not zero. Included once for every
// target.

#if defined(PIBINN_INFER_SUPPORT_INDICES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SUPPORT_INDICES_INL
#undef PIBINN_INFER_SUPPORT_INDICES_INL
#else
#define PIBINN_INFER_SUPPORT_INDICES_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>
#include <hwy/targets.h>

#include "infer/kernels/byte_primitives-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

/// What lists the indices of a support, by what the processor has.
enum class IndexLister { compress, by_sixteen, scan };

inline IndexLister FindIndexLister() {
    if (!kCompressesLanes) return IndexLister::scan;
    const bool vbmi2 = kHasVbmi2 && (hwy::SupportedTargets() & HWY_AVX3_DL) != 0;
    return vbmi2 ? IndexLister::compress : IndexLister::by_sixteen;
}

struct ByteNumbers {
    alignas(64) std::uint8_t values[kListed];

    constexpr ByteNumbers() : values() {
        for (std::size_t i = 0; i < kListed; ++i) values[i] = static_cast<std::uint8_t>(i);
    }
};
constexpr ByteNumbers kByteNumbers;

/// The bits of up to 64 columns.
HWY_INLINE std::uint64_t AliveBits(const std::uint8_t* alive, std::size_t columns) {
    std::uint64_t bits;
    std::memcpy(&bits, alive, sizeof bits);
    return bits & ~std::uint64_t{0} >> (64 - columns);
}

/// Takes 64 columns after the other to compress(numbers, bits, to), which returns the end.
template <class Compress>
HWY_INLINE std::uint8_t* ListBy64(const Compress& compress, const std::uint8_t* alive,
                                  std::size_t columns, std::uint8_t* to) {
    const std::uint8_t* numbers = kByteNumbers.values;
    while (columns > 64) {
        to = compress(numbers, AliveBits(alive, 64), to);
        alive += 8;
        numbers += 64;
        columns -= 64;
    }
    return compress(numbers, AliveBits(alive, columns), to);
}

/// The listers that are called and not inlined.
inline HWY_NOINLINE std::uint8_t* CallIndexLister(IndexLister lister, const std::uint8_t* alive,
                                                  std::size_t columns, std::uint8_t* to) {
    const auto sixteen = [](auto... args) HWY_ATTR { return CompressBytesBySixteen(args...); };
    const auto scan = [](auto... args) HWY_ATTR { return portable::CompressBytes(args...); };
    return lister == IndexLister::by_sixteen ? ListBy64(sixteen, alive, columns, to)
                                             : ListBy64(scan, alive, columns, to);
}

/// Writes which of `columns` (up to kListed) are alive, and returns the end of the list. In bytes:
/// lists of 32 bits took 8 % more of a batch of 50 x 100, loops over the bits themselves, whose
/// ends are not foreseen, 18 %.
HWY_INLINE std::uint8_t* ListIndices(IndexLister lister, const std::uint8_t* alive,
                                     std::size_t columns, std::uint8_t* to) {
    if constexpr (kHasVbmi2)
        if (lister == IndexLister::compress)
            return ListBy64([](auto... args) HWY_ATTR { return CompressBytes(args...); }, alive,
                            columns, to);
    return CallIndexLister(lister, alive, columns, to);
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
