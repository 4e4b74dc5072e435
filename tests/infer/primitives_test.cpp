#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infer/primitives_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "infer/kernels/piece_primitives-inl.hpp"
#include "infer/kernels/primitives-inl.hpp"
#include "infer/kernels/support_indices-inl.hpp"

#ifndef PIBINN_PRIMITIVE_CASES
#define PIBINN_PRIMITIVE_CASES
namespace pibinn {
/// What differs between a target's own primitives and their portable twins; empty where nothing.
using Differences = std::vector<std::string>;

/// Numbers of every kind: 0, -0, both infinities, the smallest ones, equal sizes of both signs and
/// ordinary ones, in an order that repeats late.
inline float some_number(std::size_t i) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    constexpr float tiny = std::numeric_limits<float>::denorm_min();
    constexpr float special[] = {0.0F, -0.0F, inf, -inf, tiny, -tiny, 1.5F, -1.5F};
    const std::uint32_t bits = static_cast<std::uint32_t>(i) * 2654435761U;
    if (bits >> 29U == 0) return special[(bits >> 10U) % 8];
    return (static_cast<float>(bits >> 8U) / 8388608.0F - 1.0F) * 3.0F;
}
}  // namespace pibinn
#endif

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// The same bits, or both not a number.
template <class DN>
bool Same(DN d, hn::Vec<DN> a, hn::Vec<DN> b) {
    float as[16], bs[16];
    hn::StoreU(a, d, as);
    hn::StoreU(b, d, bs);
    for (std::size_t l = 0; l < hn::MaxLanes(d); ++l)
        if (std::memcmp(as + l, bs + l, sizeof(float)) != 0 && (as[l] == as[l] || bs[l] == bs[l]))
            return false;
    return true;
}
template <class DN>
hn::Vec<DN> SomeVector(DN d, std::size_t seed) {
    float values[16];
    for (std::size_t l = 0; l < 16; ++l) values[l] = some_number(16 * seed + l);
    return hn::LoadU(d, values);
}
template <class DN>
bool SameBits(DN d, hn::Mask<DN> a, hn::Mask<DN> b) {
    return hn::AllFalse(d, hn::Xor(a, b));
}

template <class DN>
void CompareSoftThresholds(DN d, Differences& found) {
    for (std::size_t i = 0; i < 2000; ++i) {
        const auto z = SomeVector(d, i);
        const auto tau = hn::Abs(SomeVector(d, 5000 + i));
        const auto own = SoftThreshold(z, tau);
        const auto twin = portable::SoftThreshold(z, tau);
        // Infinity less infinity is not a number for one, and dead for the other.
        const auto both = hn::And(hn::Lt(hn::Abs(z), hn::Inf(d)), hn::Lt(tau, hn::Inf(d)));
        if (!Same(d, hn::IfThenElseZero(both, own.x), hn::IfThenElseZero(both, twin.x)))
            found.push_back("SoftThreshold, x");
        if (!SameBits(d, hn::And(both, own.alive), hn::And(both, twin.alive)))
            found.push_back("SoftThreshold, alive");
    }
}

template <class DN>
void CompareMaskedSums(DN d, Differences& found) {
    for (std::size_t i = 0; i < 2000; ++i) {
        const auto sum = hn::Abs(SomeVector(d, i));  // never -0
        const auto adds = hn::Lt(SomeVector(d, 3000 + i), hn::Zero(d));
        const auto more = SomeVector(d, 7000 + i);
        if (!Same(d, AddWhere(adds, sum, more), portable::AddWhere(adds, sum, more)))
            found.push_back("AddWhere");
        const hn::RebindToUnsigned<DN> du;
        const auto lanes = hn::RebindMask(du, adds);
        const auto whole = hn::BitCast(du, sum), step = hn::BitCast(du, more);
        if (!Same(d, hn::BitCast(d, AddWhere(lanes, whole, step)),
                  hn::BitCast(d, portable::AddWhere(lanes, whole, step))))
            found.push_back("AddWhere of whole numbers");
        if (MaskBits(d, adds) != portable::MaskBits(d, adds)) found.push_back("MaskBits");
    }
}

template <class DN>
void CompareFour(DN d, Differences& found) {
    for (std::size_t i = 0; i < 2000; ++i) {
        const auto size = hn::Abs(SomeVector(d, i));
        const auto second = hn::Abs(SomeVector(d, 3000 + i));
        const auto first = hn::Min(second, hn::Abs(SomeVector(d, 5000 + i)));
        const auto third = hn::Max(second, hn::Abs(SomeVector(d, 7000 + i)));
        float four[4];
        for (std::size_t l = 0; l < 4; ++l) four[l] = some_number(4 * i + l);
        const auto numbers = hn::LoadDup128(d, four);
        if (!Same(
                d, LookUpFour(numbers, NumberOfFour(size, first, second, third)),
                portable::LookUpFour(numbers, portable::NumberOfFour(size, first, second, third))))
            found.push_back("LookUpFour");
    }
}

Differences CompareTwins() {
    Differences found;
    CompareFour(hn::CappedTag<float, 16>(), found);
    CompareFour(hn::CappedTag<float, 8>(), found);
    CompareFour(hn::CappedTag<float, 4>(), found);
    CompareMaskedSums(hn::CappedTag<float, 16>(), found);
    CompareMaskedSums(hn::CappedTag<float, 8>(), found);
    CompareMaskedSums(hn::CappedTag<float, 4>(), found);
    CompareSoftThresholds(hn::CappedTag<float, 16>(), found);
    CompareSoftThresholds(hn::CappedTag<float, 8>(), found);
    CompareSoftThresholds(hn::CappedTag<float, 4>(), found);
#if PIBINN_VECTOR_KERNEL
    for (std::size_t i = 0; i < 2000; ++i) {
        GroupTable table;
        for (std::size_t v = 0; v < kTableVectors; ++v)
            table.entries[v] = SomeVector(D(), kTableVectors * i + v);
        const VU index = hn::BitCast(DU(), SomeVector(D(), 7000 + i));
        if (!Same(D(), LookUp<0>(table, index), portable::LookUp<0>(table, index)) ||
            !Same(D(), LookUp<7>(table, index), portable::LookUp<7>(table, index)))
            found.push_back("LookUp");

#if PIBINN_SIGN_COLUMNS
        std::uint64_t signs[40];
        std::uint32_t offsets[5];
        for (std::uint64_t& word : signs)
            word = (i + 1) * 0x9E3779B97F4A7C15U * (&word - signs + 1);
        for (std::size_t c = 0; c < 5; ++c)
            offsets[c] = static_cast<std::uint32_t>((i + 7 * c) % 40);
        if (!Same(D(), hn::BitCast(D(), TableNumbers(signs, offsets)),
                  hn::BitCast(D(), portable::TableNumbers(signs, offsets))))
            found.push_back("TableNumbers");
#endif
        const V abs = hn::Abs(SomeVector(D(), i));
        const V sum = hn::Abs(SomeVector(D(), 9000 + i));
        if (!Same(D(), AddLargerOfPairs<false>(sum, abs),
                  portable::AddLargerOfPairs<false>(sum, abs)) ||
            !Same(D(), AddLargerOfPairs<true>(hn::Zero(D()), abs),
                  portable::AddLargerOfPairs<true>(hn::Zero(D()), abs)))
            found.push_back("AddLargerOfPairs");
        const auto butterfly = hn::FirstN(D(), i % (kLanes / 2 + 1) * 2);
        if (!Same(D(), AddLargerOfPairs<false>(sum, butterfly, abs),
                  portable::AddLargerOfPairs<false>(sum, butterfly, abs)) ||
            !Same(D(), AddLargerOfPairs<true>(hn::Zero(D()), butterfly, abs),
                  portable::AddLargerOfPairs<true>(hn::Zero(D()), butterfly, abs)))
            found.push_back("AddLargerOfPairs of some");

        alignas(64) float rows[3][kLanes], own[16] = {}, twin[16] = {};
        for (std::size_t row = 0; row < 3; ++row)
            hn::Store(hn::Abs(SomeVector(D(), 3 * i + row)), D(), rows[row]);
        const auto halve = [](auto d, auto v) HWY_ATTR { return hn::Mul(hn::Set(d, 0.5F), v); };
        SumEachRow(rows, 3, halve, own);
        portable::SumEachRow(rows, 3, halve, twin);
        for (std::size_t row = 0; row < 3; ++row)
            if (own[4 * row] != twin[4 * row]) found.push_back("SumEachRow");
    }
#endif
    return found;
}

/// The lists of all listers that this processor has, of columns whose bits these bytes are.
std::vector<std::vector<std::uint8_t>> ListByAll(const std::uint8_t* alive, std::size_t columns) {
    std::vector<std::vector<std::uint8_t>> lists;
#if PIBINN_VECTOR_KERNEL
    std::vector<IndexLister> listers{IndexLister::scan, IndexLister::by_sixteen};
    if (FindIndexLister() == IndexLister::compress) listers.push_back(IndexLister::compress);
    for (const IndexLister lister : listers) {
        std::vector<std::uint8_t> list(kListBytes);
        list.resize(static_cast<std::size_t>(ListIndices(lister, alive, columns, list.data()) -
                                             list.data()));
        lists.push_back(std::move(list));
    }
#endif
    (void)alive;
    (void)columns;
    return lists;
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

namespace pibinn {

HWY_EXPORT(CompareTwins);
HWY_EXPORT(ListByAll);

namespace {

/// Calls f(index in the tables of HWY_EXPORT) for every instruction set of this machine.
template <class F>
void for_each_target(const F& f) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        hwy::ChosenTarget chosen;
        chosen.Update(target);
        f(chosen.GetIndex());
    }
}

TEST(Primitives, GiveTheBitsOfTheirPortableTwins) {
    for_each_target([](std::size_t at) {
        const Differences found = HWY_DISPATCH_TABLE(CompareTwins)[at]();
        EXPECT_EQ(found, Differences());
    });
}

TEST(Primitives, AllListersGiveTheIndicesOfTheSetBits) {
    for_each_target([](std::size_t at) {
        for (const std::size_t columns : {1U, 15U, 16U, 17U, 63U, 64U, 65U, 100U, 255U, 256U})
            for (const unsigned density : {0U, 1U, 4U, 8U}) {
                std::vector<std::uint8_t> alive(40), expected;
                for (std::size_t j = 0; j < 8 * alive.size(); ++j)  // what is behind must not count
                    if (static_cast<std::uint32_t>(j + density) * 2654435761U >> 29U < density)
                        alive[j / 8] = static_cast<std::uint8_t>(alive[j / 8] | 1U << j % 8);
                for (std::size_t j = 0; j < columns; ++j)
                    if ((alive[j / 8] >> j % 8 & 1) != 0)
                        expected.push_back(static_cast<std::uint8_t>(j));
                for (const auto& list : HWY_DISPATCH_TABLE(ListByAll)[at](alive.data(), columns))
                    EXPECT_EQ(list, expected) << columns << " columns, density " << density;
            }
    });
}

}  // namespace
}  // namespace pibinn
#endif
