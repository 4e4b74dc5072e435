#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

namespace pibinn::study {

/// Seconds that `work` takes: the fastest of up to five runs, within about half a second.
template <class Work>
double fastest_seconds(Work&& work) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double fastest = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 5; ++run) {
        const auto before = Clock::now();
        work();
        const auto after = Clock::now();
        fastest = std::min(fastest, std::chrono::duration<double>(after - before).count());
        if (after - start > std::chrono::milliseconds(500)) break;
    }
    return fastest;
}

/// The same, in microseconds for each of `signals`.
template <class Work>
double microseconds_each(std::size_t signals, Work&& work) {
    return 1e6 * fastest_seconds(work) / static_cast<double>(signals);
}

/// One run, in microseconds for each of `signals`.
template <class Work>
double microseconds_once(std::size_t signals, Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count() / static_cast<double>(signals);
}

}  // namespace pibinn::study
