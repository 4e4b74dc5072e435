#include "problem/units.hpp"

#include <cmath>

#include "problem/present_entries.hpp"

namespace pibinn {

namespace {

// Normalised signals have a deviation of 1 but for rounding.
constexpr double kNearlyOne = 1e-3;

double signal_size(const Problem& problem) {
    const Batch& x = problem.train.x;
    double squares = 0;
    std::size_t entries = 0;
    std::vector<std::size_t> present;
    for (std::size_t i = 0; i < x.rows(); ++i) {
        const auto row = x.row(i);
        if (!problem.sparse) {
            for (const float v : row) squares += double{v} * v;
            entries += row.size();
            continue;
        }
        present_entries(row, present);
        for (const std::size_t j : present) squares += double{row[j]} * row[j];
        entries += present.size();
    }
    return entries > 0 ? std::sqrt(squares / static_cast<double>(entries)) : 1;
}

double usable(double unit) {
    return std::isfinite(unit) && unit > 0 && std::abs(unit - 1) > kNearlyOne ? unit : 1;
}

Batch divided(const Batch& rows, double by) {
    Batch result(rows.rows(), rows.cols());
    for (std::size_t i = 0; i < rows.size(); ++i)
        result.values()[i] = static_cast<float>(rows.values()[i] / by);
    return result;
}

}  // namespace

double column_norm(const Operator& op) {
    double squares = 0;
    for (const float v : op.values()) squares += double{v} * v;
    const double columns =
        static_cast<double>(op.cols()) / static_cast<double>(op.structure().repeat());
    return std::sqrt(squares / columns);
}

Units units_of(const Problem& problem) {
    return {usable(problem.signal_size ? *problem.signal_size : signal_size(problem)),
            usable(problem.column_norm ? *problem.column_norm : column_norm(problem.op))};
}

Problem in_units(const Problem& problem, const Units& units) {
    Problem result = problem;
    const double measurement = units.measurement();
    AlignedBuffer<float> values(problem.op.values().begin(), problem.op.values().end());
    for (float& v : values) v = static_cast<float>(v / units.column);
    result.op = Operator(problem.op.structure(), std::move(values));
    for (DataSet* set : {&result.train, &result.test}) {
        set->x = divided(set->x, units.signal);
        set->y = divided(set->y, measurement);
    }
    result.train_residual = divided(problem.train_residual, measurement);
    result.noise_std = problem.noise_std / measurement;
    if (result.snr_db) result.snr_db->power /= measurement * measurement;
    // Artefacts take their size from the signals they are added to.
    result.train_disturbance.noise_std /= units.signal;
    result.test_disturbance.noise_std /= units.signal;
    result.signal_size = result.column_norm = 1;
    return result;
}

}  // namespace pibinn
