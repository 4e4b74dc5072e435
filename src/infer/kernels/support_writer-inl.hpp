// The places of entries that are not zero. Included once for every target.

#if defined(PIBINN_INFER_SUPPORT_WRITER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SUPPORT_WRITER_INL
#undef PIBINN_INFER_SUPPORT_WRITER_INL
#else
#define PIBINN_INFER_SUPPORT_WRITER_INL
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "infer/kernels/primitives-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// Takes the masks of one vector after the other, from the first on, and writes the places that are
/// set, with a vector of room behind them.
template <class D, bool kCompresses = kCompressesLanes>
class SupportWriter {
public:
    explicit SupportWriter(std::uint32_t* to) : to_(to) {}

    HWY_INLINE void Add(std::size_t, hn::Mask<D> set) {
        const DU du;
        count_ += hn::CompressStore(place_, hn::RebindMask(du, set), du, to_ + count_);
        place_ = hn::Add(place_, hn::Set(du, static_cast<std::uint32_t>(hn::MaxLanes(du))));
    }
    HWY_INLINE std::size_t Finish() { return count_; }

private:
    using DU = hn::RebindToUnsigned<D>;
    hn::Vec<DU> place_ = hn::Iota(DU(), 0);  // counted up: made anew it took half of the kernel
    std::uint32_t* to_;
    std::size_t count_ = 0;
};

/// Bits are collected for 64 places, since every run of bits ends in a branch that is not foreseen.
template <class D>
class SupportWriter<D, false> {
public:
    explicit SupportWriter(std::uint32_t* to) : to_(to) {}

    HWY_INLINE void Add(std::size_t first, hn::Mask<D> set) {
        std::uint8_t bytes[8] = {};
        hn::StoreMaskBits(D(), set, bytes);
        bits_ |= std::uint64_t{bytes[0]} << (first % 64);
        if (first % 64 + hn::MaxLanes(D()) == 64) Flush(first - first % 64);
        last_ = first;
    }
    HWY_INLINE std::size_t Finish() {
        Flush(last_ - last_ % 64);
        return count_;
    }

private:
    HWY_INLINE void Flush(std::size_t first) {
        for (; bits_ != 0; bits_ &= bits_ - 1)
            to_[count_++] = static_cast<std::uint32_t>(first + std::countr_zero(bits_));
    }
    std::uint64_t bits_ = 0;
    std::size_t last_ = 0;
    std::uint32_t* to_;
    std::size_t count_ = 0;
};

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
