// room: problem
#pragma once

#include <cstdint>

#include "pibinn/access_prior.hpp"
#include "pibinn/problem.hpp"

namespace pibinn {

/// Grant-free access: a base station hears the sum of the pilots of whoever sends, and has to tell
/// who that is and by which channel. Pilots are QPSK, (+-1 +-i)/sqrt(2 pilots), a column per user.
struct AccessSpec {
    AccessPrior prior = {};
    std::size_t pilots = 64;  ///< symbols per user: measurements
    /// The ratio of the mean power of what is measured, over all signals, to that of the noise. The
    /// power is set by make_access.
    SnrRange snr_db = {10, 10};
    std::size_t train = 4000;
    std::size_t test = 1000;
};

Problem make_access(const AccessSpec& spec, std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
