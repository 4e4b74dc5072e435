#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/reproduction_report.hpp"
#include "study/cell_result.hpp"

namespace pibinn::study {

/// A mean of ours beside a published number, by the rule of its quantity (verdict_rules).
/// `undetermined`: the paper does not fix the number.
Agreement agreement_of(const Quantity& quantity, double published, double ours, bool undetermined);

/// Whether a statement holds: left below (or above) every right side, which is shown in words.
struct ComparedClaim {
    double left = 0;
    std::vector<double> right;
    bool below = true;
    int digits = 2;

    bool holds() const;
    std::string evidence() const;
};

}  // namespace pibinn::study
