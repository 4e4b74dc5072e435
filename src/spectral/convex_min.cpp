#include "spectral/convex_min.hpp"

#include <algorithm>
#include <cmath>

namespace pibinn {

namespace {

constexpr double kGolden = 0.6180339887498949;
// Borders near zero need no more than this resolution.
constexpr double kLeastScale = 1e-3;

}  // namespace

double convex_min(const std::function<double(double)>& f, double low, double high,
                  double tolerance) {
    double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    double fa = f(a), fb = f(b);
    while (high - low > tolerance * std::max(kLeastScale, std::abs(high))) {
        if (fa <= fb) {
            high = b;
            b = a, fb = fa;
            a = high - kGolden * (high - low), fa = f(a);
        } else {
            low = a;
            a = b, fa = fb;
            b = low + kGolden * (high - low), fb = f(b);
        }
    }
    return fa <= fb ? a : b;
}

double last_inside(const std::function<bool(double)>& holds, double inside, double outside,
                   double tolerance) {
    while (std::abs(outside - inside) > tolerance * std::max(kLeastScale, std::abs(inside))) {
        const double middle = 0.5 * (inside + outside);
        (holds(middle) ? inside : outside) = middle;
    }
    return inside;
}

}  // namespace pibinn
