#pragma once

#include <functional>

namespace pibinn {

/// Where a convex function is least on [low, high], by golden section, to `tolerance` relative to
/// `high` (to 1e-3 where that is smaller).
double convex_min(const std::function<double(double)>& f, double low, double high,
                  double tolerance);

/// The last point at which a condition holds between `inside`, where it holds, and `outside`, where
/// it does not; it must change once between them. By bisection, to the same kind of tolerance; the
/// result is always a point at which it holds. `inside` may be the larger of the two.
double last_inside(const std::function<bool(double)>& holds, double inside, double outside,
                   double tolerance);

}  // namespace pibinn
