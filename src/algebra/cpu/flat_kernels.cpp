#include "algebra/cpu/flat_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "algebra/cpu/flat_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pibinn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using One = hn::CappedTag<float, 1>;  // the tail, number by number

// Calls body(tag, index) over whole vectors, then over the tail. Ranges may start anywhere.
template <class Body>
HWY_INLINE void ForEach(std::size_t count, const Body& body) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) body(d, i);
    for (; i < count; ++i) body(One(), i);
}

void Adam(const AdamArgs& args, std::span<float> values, std::span<const float> gradient,
          std::span<float> first, std::span<float> second) {
    const AdamStep& a = args.step;
    const auto body = [&](auto d, std::size_t i) HWY_ATTR {
        const auto g = hn::Mul(hn::Set(d, args.gradient_factor), hn::LoadU(d, &gradient[i]));
        const auto m1 = hn::MulAdd(hn::Set(d, a.beta1), hn::LoadU(d, &first[i]),
                                   hn::Mul(hn::Set(d, 1 - a.beta1), g));
        const auto m2 = hn::MulAdd(hn::Set(d, a.beta2), hn::LoadU(d, &second[i]),
                                   hn::Mul(hn::Set(d, 1 - a.beta2), hn::Mul(g, g)));
        hn::StoreU(m1, d, &first[i]);
        hn::StoreU(m2, d, &second[i]);
        const auto down =
            hn::Add(hn::Sqrt(hn::Mul(hn::Set(d, args.correct2), m2)), hn::Set(d, a.epsilon));
        const auto move = hn::Div(hn::Mul(hn::Set(d, a.rate * args.correct1), m1), down);
        hn::StoreU(hn::Sub(hn::LoadU(d, &values[i]), move), d, &values[i]);
    };
    ForEach(values.size(), body);
}

void Add(std::span<const float> part, std::span<float> total) {
    const auto body = [&](auto d, std::size_t i) HWY_ATTR {
        hn::StoreU(hn::Add(hn::LoadU(d, &total[i]), hn::LoadU(d, &part[i])), d, &total[i]);
    };
    ForEach(total.size(), body);
}

constexpr std::size_t kFold = 512;

// sum over i of term(tag, i)
template <class Term>
HWY_INLINE double FoldedSum(std::size_t count, const Term& term) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    double total = 0;
    for (std::size_t begin = 0; begin < count; begin += kFold) {
        const std::size_t end = begin + kFold < count ? begin + kFold : count;
        auto sum = hn::Zero(d);
        std::size_t i = begin;
        for (; i + lanes <= end; i += lanes) sum = hn::Add(sum, term(d, i));
        total += double{hn::GetLane(hn::SumOfLanes(d, sum))};
        for (; i < end; ++i) total += double{hn::GetLane(term(One(), i))};
    }
    return total;
}

void Average(float share, std::span<const float> values, std::span<float> mean) {
    const auto body = [&](auto d, std::size_t i) HWY_ATTR {
        const auto was = hn::LoadU(d, &mean[i]);
        const auto gap = hn::Sub(hn::LoadU(d, &values[i]), was);
        hn::StoreU(hn::MulAdd(hn::Set(d, share), gap, was), d, &mean[i]);
    };
    ForEach(mean.size(), body);
}

double SquaredNorm(std::span<const float> values) {
    const auto term = [&](auto d, std::size_t i) HWY_ATTR {
        const auto v = hn::LoadU(d, &values[i]);
        return hn::Mul(v, v);
    };
    return FoldedSum(values.size(), term);
}

double DotSigns(std::span<const float> gradient, std::span<const float> latent) {
    const auto term = [&](auto d, std::size_t i) HWY_ATTR {
        const auto g = hn::LoadU(d, &gradient[i]);
        return hn::IfThenElse(hn::Lt(hn::LoadU(d, &latent[i]), hn::Zero(d)), hn::Neg(g), g);
    };
    return FoldedSum(latent.size(), term);
}

void ToSigns(std::span<const float> latent, float scale, std::span<float> effective) {
    const auto body = [&](auto d, std::size_t i) HWY_ATTR {
        const auto negative = hn::Lt(hn::LoadU(d, &latent[i]), hn::Zero(d));
        hn::StoreU(hn::IfThenElse(negative, hn::Set(d, -scale), hn::Set(d, scale)), d,
                   &effective[i]);
    };
    ForEach(latent.size(), body);
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn::cpu {

HWY_EXPORT(Adam);
HWY_EXPORT(Add);
HWY_EXPORT(Average);
HWY_EXPORT(SquaredNorm);
HWY_EXPORT(DotSigns);
HWY_EXPORT(ToSigns);

void adam(const AdamArgs& args, std::span<float> values, std::span<const float> gradient,
          std::span<float> first, std::span<float> second) {
    HWY_DYNAMIC_DISPATCH(Adam)(args, values, gradient, first, second);
}

void average(float share, std::span<const float> values, std::span<float> mean) {
    HWY_DYNAMIC_DISPATCH(Average)(share, values, mean);
}

void add(std::span<const float> part, std::span<float> total) {
    HWY_DYNAMIC_DISPATCH(Add)(part, total);
}

double squared_norm(std::span<const float> values) {
    return HWY_DYNAMIC_DISPATCH(SquaredNorm)(values);
}

double dot_signs(std::span<const float> gradient, std::span<const float> latent) {
    return HWY_DYNAMIC_DISPATCH(DotSigns)(gradient, latent);
}

void to_signs(std::span<const float> latent, float scale, std::span<float> effective) {
    HWY_DYNAMIC_DISPATCH(ToSigns)(latent, scale, effective);
}

}  // namespace pibinn::cpu
#endif
