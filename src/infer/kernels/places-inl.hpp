// From the bits of entries that are alive to their places. Included once for every target.

#if defined(PIBINN_INFER_PLACES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_PLACES_INL
#undef PIBINN_INFER_PLACES_INL
#else
#define PIBINN_INFER_PLACES_INL
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "infer/kernels/signal-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

/// The bits of up to 64 columns.
HWY_INLINE std::uint64_t AliveBits(const std::uint8_t* alive, std::size_t columns) {
    std::uint64_t bits;
    std::memcpy(&bits, alive, sizeof bits);
    return bits & ~std::uint64_t{0} >> (64 - columns);
}

/// Writes which of `columns` (up to kListed) are alive, and returns the end of the list. In bytes:
/// lists of 32 bits took 8 % more of a batch of 50 x 100, loops over the bits themselves, whose
/// ends are not foreseen, 18 %.
using PlacesFunction = std::uint8_t* (*)(const std::uint8_t* alive, std::size_t columns,
                                         std::uint8_t* places);

struct ByteNumbers {
    alignas(64) std::uint8_t values[kListed];

    constexpr ByteNumbers() : values() {
        for (std::size_t i = 0; i < kListed; ++i) values[i] = static_cast<std::uint8_t>(i);
    }
};
constexpr ByteNumbers kByteNumbers;

#if HWY_TARGET <= HWY_AVX3

/// Where an instruction for it exists. In assembler: a function that is compiled for it could not
/// become a part of one that is not.
HWY_INLINE std::uint8_t* CompressBytes(const std::uint8_t* alive, std::size_t columns,
                                       std::uint8_t* to) {
    const std::uint8_t* numbers = kByteNumbers.values;
    const auto add = [&](std::uint64_t bits) HWY_ATTR {
        __m512i places;
        asm("vpcompressb %1, %0%{%2%}%{z%}"
            : "=v"(places)
            : "v"(_mm512_load_si512(numbers)), "Yk"(static_cast<__mmask64>(bits)));
        _mm512_storeu_si512(to, places);
        to += std::popcount(bits);
    };
    while (columns > 64) {
        add(AliveBits(alive, 64));
        alive += 8;
        numbers += 64;
        columns -= 64;
        asm("" : "+r"(numbers), "+r"(columns));  // g++ 12 calculated them anew from their beginning
    }
    add(AliveBits(alive, columns));
    return to;
}

/// Sixteen at a time, elsewhere.
inline std::uint8_t* CompressWords(const std::uint8_t* alive, std::size_t columns,
                                   std::uint8_t* to) {
    for (std::size_t j = 0; j < columns; j += 16) {
        const auto bits = static_cast<std::uint16_t>(
            AliveBits(alive + j / 64 * 8, std::min<std::size_t>(64, columns - j / 64 * 64)) >>
            j % 64);
        const __m512i numbers = _mm512_cvtepu8_epi32(
            _mm_load_si128(reinterpret_cast<const __m128i*>(kByteNumbers.values + j)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                         _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(bits, numbers)));
        to += std::popcount(bits);
    }
    return to;
}

#else

inline std::uint8_t* CountBits(const std::uint8_t* alive, std::size_t columns, std::uint8_t* to) {
    for (std::size_t j = 0; j < columns; j += 64)
        for (std::uint64_t bits = AliveBits(alive + j / 8, std::min<std::size_t>(64, columns - j));
             bits != 0; bits &= bits - 1)
            *to++ = static_cast<std::uint8_t>(j + static_cast<std::size_t>(std::countr_zero(bits)));
    return to;
}

#endif

/// By a function; none means the instruction, without a call.
HWY_INLINE std::uint8_t* ListPlaces(PlacesFunction list, const std::uint8_t* alive,
                                    std::size_t columns, std::uint8_t* places) {
#if HWY_TARGET <= HWY_AVX3
    if (list == nullptr) return CompressBytes(alive, columns, places);
#endif
    return list(alive, columns, places);
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
