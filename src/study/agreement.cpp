#include "study/agreement.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pibinn::study {

namespace {

constexpr double kDecibels = 1;
constexpr double kShare = 0.1;

Agreement judged(QuantityRule rule, double published, double ours) {
    const double difference = ours - published;
    switch (rule) {
        case QuantityRule::decibels:
            if (!std::isfinite(ours)) return Agreement::worse;
            if (std::abs(difference) <= kDecibels) return Agreement::matches;
            return difference < 0 ? Agreement::better : Agreement::worse;
        case QuantityRule::equal:
            return difference == 0 ? Agreement::matches : Agreement::differs;
        case QuantityRule::share:
            return std::abs(difference) <= kShare * std::abs(published) ? Agreement::matches
                                                                        : Agreement::differs;
        case QuantityRule::time:
            return difference <= 0 ? Agreement::better : Agreement::worse;
        case QuantityRule::none:
            return Agreement::unjudged;
    }
    return Agreement::unjudged;
}

}  // namespace

Agreement agreement_of(const Quantity& quantity, double published, double ours, bool undetermined) {
    const Agreement agreement = judged(quantity.rule, published, ours);
    const bool off = agreement == Agreement::worse || agreement == Agreement::differs;
    return off && undetermined ? Agreement::undetermined : agreement;
}

bool ComparedClaim::holds() const {
    return std::all_of(right.begin(), right.end(),
                       [&](double value) { return below ? left < value : left > value; });
}

std::string ComparedClaim::evidence() const {
    const auto shown = [&](double value) {
        return digits > 0 ? decimal(value, digits)
                          : grouped(static_cast<std::size_t>(std::llround(std::abs(value))));
    };
    std::string words = shown(left) + " against ";
    for (std::size_t i = 0; i < right.size(); ++i) words += (i > 0 ? ", " : "") + shown(right[i]);
    return words;
}

}  // namespace pibinn::study
