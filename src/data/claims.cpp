#include "data/claims.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

std::string megabytes(double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); }

void require_at_most(double most, double bytes, std::uint64_t file_bytes, const std::string& what,
                     const std::string& hint) {
    if (bytes <= most) return;
    fail_input(fmt::format("{} would take {} of memory; a file of {} bytes may take {}", what,
                           megabytes(bytes), file_bytes, megabytes(most)),
               hint);
}

}  // namespace

double most_claimed(double factor, std::uint64_t file_bytes) {
    return std::max(free_claim, factor * static_cast<double>(file_bytes));
}

void require_claim(double bytes, double factor, std::uint64_t file_bytes, const std::string& what,
                   const std::string& hint) {
    require_at_most(most_claimed(factor, file_bytes), bytes, file_bytes, what, hint);
}

void require_formula_claim(double bytes, std::uint64_t file_bytes, const std::string& what) {
    require_at_most(std::max(formula_claim, most_claimed(claim_factor::models, file_bytes)), bytes,
                    file_bytes, what,
                    "use blocks or a repeated block, or a matrix of entries, which a file must "
                    "hold one by one");
}

void require_sparse_claim(std::size_t cols, std::uint64_t file_bytes, const std::string& where) {
    require_claim(sizeof(std::uint32_t) * static_cast<double>(cols), claim_factor::arrays,
                  file_bytes, fmt::format("'{}' is a sparse matrix whose {} columns", where, cols));
}

void require_full_claim(std::size_t rows, std::size_t cols, std::uint64_t file_bytes,
                        const std::string& where, Digits digits) {
    const double width = digits == Digits::all ? sizeof(double) : sizeof(float);
    require_claim(width * static_cast<double>(rows) * static_cast<double>(cols),
                  claim_factor::arrays, file_bytes,
                  fmt::format("'{}' is sparse, and its {} x {} numbers in full", where, rows, cols),
                  "use it as a mask, or save it in full");
}

}  // namespace pibinn
