#pragma once

#include <chrono>
#include <cstddef>

namespace pibinn::study {

/// One run, in microseconds per signal.
template <class Work>
double microseconds_once(std::size_t signals, Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count() / static_cast<double>(signals);
}

}  // namespace pibinn::study
