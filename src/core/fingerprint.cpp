#include "core/fingerprint.hpp"

#include <fmt/format.h>

namespace pibinn {

void Fingerprint::mix(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) hash_ = (hash_ ^ at[i]) * 1099511628211ULL;
}

std::string Fingerprint::text() const { return fmt::format("{:016x}", hash_); }

}  // namespace pibinn
