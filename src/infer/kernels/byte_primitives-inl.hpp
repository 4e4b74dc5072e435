// What instruction sets do with bytes each in their own way; see primitives-inl.hpp. Included once
// for every target.

#if defined(PIBINN_INFER_BYTE_PRIMITIVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_BYTE_PRIMITIVES_INL
#undef PIBINN_INFER_BYTE_PRIMITIVES_INL
#else
#define PIBINN_INFER_BYTE_PRIMITIVES_INL
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "infer/kernels/primitives-inl.hpp"
#include "infer/kernels/sign_columns.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

#if PIBINN_SIGN_COLUMNS

// TableNumbers: a byte for each of 64 rows, whose bit i is the row's bit in signs[offsets[i]], for
// five i.

namespace portable {

HWY_INLINE VU TableNumbers(const std::uint64_t* signs, const std::uint32_t* offsets) {
    const hn::Repartition<std::uint8_t, DU> d;
    auto numbers = hn::Zero(d);
    for (std::size_t i = 0; i < kGroupColumns; ++i) {
        std::uint8_t bits[8];
        std::memcpy(bits, signs + offsets[i], sizeof bits);
        numbers =
            hn::Or(numbers, hn::IfThenElseZero(hn::LoadMaskBits(d, bits),
                                               hn::Set(d, static_cast<std::uint8_t>(1U << i))));
    }
    return hn::BitCast(DU(), numbers);
}

}  // namespace portable

HWY_INLINE VU TableNumbers(const std::uint64_t* signs, const std::uint32_t* offsets) {
    __m512i numbers = _mm512_maskz_set1_epi8(signs[offsets[0]], 1);
    for (std::size_t i = 1; i < kGroupColumns; ++i)
        numbers = _mm512_mask_add_epi8(numbers, signs[offsets[i]], numbers,
                                       _mm512_set1_epi8(static_cast<char>(1U << i)));
    return VU{numbers};
}

#endif

// CompressBytes: writes those of 64 numbers whose bit is set, in order, and returns their end; what
// stands behind them, up to 64 bytes from `to` on, is anything.

namespace portable {

HWY_INLINE std::uint8_t* CompressBytes(const std::uint8_t* numbers, std::uint64_t bits,
                                       std::uint8_t* to) {
    for (; bits != 0; bits &= bits - 1) *to++ = numbers[std::countr_zero(bits)];
    return to;
}

}  // namespace portable

#if PIBINN_AVX512

/// Where the processor has VBMI2. In assembler: a function that is compiled for it could not be
/// inlined into one that is not.
HWY_INLINE std::uint8_t* CompressBytes(const std::uint8_t* numbers, std::uint64_t bits,
                                       std::uint8_t* to) {
    __m512i found;
    asm("vpcompressb %1, %0%{%2%}%{z%}"
        : "=v"(found)
        : "v"(_mm512_load_si512(numbers)), "Yk"(static_cast<__mmask64>(bits)));
    _mm512_storeu_si512(to, found);
    return to + std::popcount(bits);
}
constexpr bool kHasVbmi2 = true;  ///< the assembler above; the processor may have it or not

/// Everywhere else, sixteen at a time.
HWY_INLINE std::uint8_t* CompressBytesBySixteen(const std::uint8_t* numbers, std::uint64_t bits,
                                                std::uint8_t* to) {
    for (; bits != 0; bits >>= 16, numbers += 16) {
        const auto some = static_cast<__mmask16>(bits);
        const __m512i wide =
            _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(numbers)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                         _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(some, wide)));
        to += std::popcount(some);
    }
    return to;
}

#else

using portable::CompressBytes;
constexpr bool kHasVbmi2 = false;
HWY_INLINE std::uint8_t* CompressBytesBySixteen(const std::uint8_t* numbers, std::uint64_t bits,
                                                std::uint8_t* to) {
    return portable::CompressBytes(numbers, bits, to);
}

#endif

#endif  // PIBINN_VECTOR_KERNEL

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
