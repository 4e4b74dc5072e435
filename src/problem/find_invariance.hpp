#pragma once

#include <string>

#include "pibinn/problem.hpp"

namespace pibinn {

struct FoundInvariance {
    Invariance invariance = Invariance::none;
    std::string why;  ///< a sentence with the figures it rests on
};

/// Which changes of sparse signals look as if they made other signals of the same kind, judged by
/// how often each entry is present, how large entries are along the signal, and their signs.
FoundInvariance find_invariance(ConstBatchView x);

}  // namespace pibinn
