#include "problem/site_magnitudes.hpp"

#include <algorithm>
#include <cmath>

namespace pibinn {

std::vector<float> site_magnitudes(const RowLayout& layout, std::span<const float> row) {
    const std::size_t parts = layout.vectors * (layout.complex ? 2 : 1);
    const std::size_t n = row.size() / parts;
    std::vector<float> magnitudes;
    for (std::size_t j = 0; j < n; ++j) {
        double energy = 0;
        for (std::size_t p = 0; p < parts; ++p) energy += double{row[p * n + j]} * row[p * n + j];
        magnitudes.push_back(static_cast<float>(std::sqrt(energy)));
    }
    return magnitudes;
}

ActivityErrors activity_errors(const RowLayout& layout, ConstBatchView truth,
                               ConstBatchView estimate) {
    struct User {
        float magnitude;
        bool active;
    };
    std::vector<User> users;
    double active = 0, silent = 0;
    for (std::size_t i = 0; i < truth.rows; ++i) {
        const auto sent = site_magnitudes(layout, truth.row(i));
        const auto found = site_magnitudes(layout, estimate.row(i));
        for (std::size_t j = 0; j < sent.size(); ++j) {
            (sent[j] > 0 ? active : silent) += 1;
            if (found[j] > 0) users.push_back({found[j], sent[j] > 0});
        }
    }
    std::sort(users.begin(), users.end(),
              [](const User& a, const User& b) { return a.magnitude > b.magnitude; });
    // From a threshold that nobody reaches, down: misses fall and false alarms rise.
    ActivityErrors best{active > 0 ? 1.0 : 0.0, 0,
                        users.empty() ? 0.0 : 2.0 * users.front().magnitude};
    double hits = 0, alarms = 0;
    for (std::size_t k = 0; k < users.size(); ++k) {
        (users[k].active ? hits : alarms) += 1;
        if (k + 1 < users.size() && users[k + 1].magnitude == users[k].magnitude) continue;
        const ActivityErrors next{active > 0 ? 1 - hits / active : 0,
                                  silent > 0 ? alarms / silent : 0, users[k].magnitude};
        if (std::max(next.missed, next.false_alarms) > std::max(best.missed, best.false_alarms))
            break;
        best = next;
    }
    return best;
}

}  // namespace pibinn
