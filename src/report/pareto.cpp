#include "report/pareto.hpp"

#include <algorithm>
#include <cmath>

namespace pibinn {

namespace {

bool is_choice(const Trade& t) { return std::isfinite(t.cost) && std::isfinite(t.error); }

bool beats(const Trade& a, const Trade& b) {
    return is_choice(a) && a.cost <= b.cost && a.error <= b.error &&
           (a.cost < b.cost || a.error < b.error);
}

}  // namespace

std::vector<std::size_t> pareto_front(std::span<const Trade> trades) {
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        if (!is_choice(trades[i])) continue;
        if (std::none_of(trades.begin(), trades.end(),
                         [&](const Trade& other) { return beats(other, trades[i]); }))
            front.push_back(i);
    }
    std::stable_sort(front.begin(), front.end(),
                     [&](std::size_t a, std::size_t b) { return trades[a].cost < trades[b].cost; });
    return front;
}

}  // namespace pibinn
