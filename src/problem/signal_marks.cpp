#include "problem/signal_marks.hpp"

#include <algorithm>
#include <set>

#include "core/fingerprint.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kMarks = 16;

bool is_zero(std::span<const float> row) {
    return std::all_of(row.begin(), row.end(), [](float v) { return v == 0; });
}

std::string mark_of(std::span<const float> row) {
    Fingerprint hash;
    hash.mix(row);
    return hash.text();
}

}  // namespace

std::string signal_marks(ConstBatchView x) {
    std::string marks;
    const std::size_t count = std::min(kMarks, x.rows);
    for (std::size_t i = 0; i < count; ++i) {
        const auto row = x.row(i * x.rows / count);
        if (!is_zero(row)) marks += (marks.empty() ? "" : " ") + mark_of(row);
    }
    return marks;
}

double share_marked(std::string_view marks, ConstBatchView x) {
    std::set<std::string> own;
    for (std::size_t i = 0; i < x.rows; ++i)
        if (!is_zero(x.row(i))) own.insert(mark_of(x.row(i)));
    std::size_t all = 0, found = 0;
    while (!marks.empty()) {
        const std::size_t end = std::min(marks.find(' '), marks.size());
        found += own.contains(std::string(marks.substr(0, end)));
        ++all;
        marks.remove_prefix(std::min(end + 1, marks.size()));
    }
    return all == 0 ? 0 : static_cast<double>(found) / static_cast<double>(all);
}

}  // namespace pibinn
