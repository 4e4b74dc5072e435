#pragma once

#include <cstddef>

namespace pibinn {

/// A network of so many links or more is trained by itself and scored on the device that trained
/// it. A link takes 24 bytes while it trains, so that a few networks of 10^9 fill a device's
/// memory.
inline constexpr std::size_t kLargeNetworkLinks = 100'000'000;

}  // namespace pibinn
