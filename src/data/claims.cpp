#include "data/claims.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

std::string megabytes(double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); }

}  // namespace

double most_claimed(double factor, std::uint64_t file_bytes) {
    return std::max(free_claim, factor * static_cast<double>(file_bytes));
}

void require_claim(double bytes, double factor, std::uint64_t file_bytes, const std::string& what,
                   const std::string& hint) {
    const double most = most_claimed(factor, file_bytes);
    if (bytes <= most) return;
    fail_input(fmt::format("{} would take {} of memory; a file of {} bytes may take {}", what,
                           megabytes(bytes), file_bytes, megabytes(most)),
               hint);
}

}  // namespace pibinn
