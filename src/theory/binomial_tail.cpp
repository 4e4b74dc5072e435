#include "theory/binomial_tail.hpp"

#include <algorithm>
#include <cmath>

namespace pibinn {

namespace {

// 1 - confidence is rounded: 1 - 0.9 is below 0.1. A tail this little over it is a tie.
constexpr long double kTie = 1 + 1e-12L;

/// Visits P(X >= k) for k = n, n - 1 .. 1 until it is told to stop. By logarithms, since p^n leaves
/// the range of doubles; of a million values the sum is good to 1e-12 in the long double of x86,
/// and to 1e-8 where that is a double.
template <class Visit>
void walk_tails(std::size_t n, double p, const Visit& visit) {
    const long double odds =
        std::log1p(-static_cast<long double>(p)) - std::log(static_cast<long double>(p));
    long double log_term = static_cast<long double>(n) * std::log(static_cast<long double>(p));
    long double tail = 0;
    for (std::size_t k = n; k >= 1; --k) {
        tail += std::exp(log_term);
        if (!visit(k, tail)) return;
        // C(n, k - 1) = C(n, k) k / (n - k + 1)
        log_term +=
            odds + std::log(static_cast<long double>(k) / static_cast<long double>(n - k + 1));
    }
}

}  // namespace

double binomial_tail(std::size_t n, double p, std::size_t k) {
    if (k == 0 || p >= 1) return k <= n ? 1 : 0;
    if (k > n || p <= 0) return 0;
    long double result = 0;
    walk_tails(n, p, [&](std::size_t at, long double tail) {
        result = tail;
        return at > k;
    });
    return static_cast<double>(std::min(result, 1.0L));
}

std::optional<std::size_t> quantile_rank(std::size_t n, double coverage, double confidence) {
    const long double most = (1 - static_cast<long double>(confidence)) * kTie;
    std::optional<std::size_t> rank;
    walk_tails(n, coverage, [&](std::size_t k, long double tail) {
        if (tail > most) return false;
        rank = k;
        return true;
    });
    return rank;
}

double least_for_quantile(double coverage, double confidence) {
    const long double most = std::log((1 - static_cast<long double>(confidence)) * kTie);
    return static_cast<double>(
        std::max(1.0L, std::ceil(most / std::log(static_cast<long double>(coverage)))));
}

}  // namespace pibinn
