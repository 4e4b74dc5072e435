#include "problem/units.hpp"

#include <cmath>

#include "problem/present_entries.hpp"

namespace pibinn {

namespace {

// Normalised signals have a deviation of 1 but for rounding.
constexpr double kNearlyOne = 1e-3;

double measured_size(const Problem& problem) {
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
    if (op.precise())
        for (const double v : op.precise_values()) squares += v * v;
    else
        for (const float v : op.values()) squares += double{v} * v;
    const double columns =
        static_cast<double>(op.cols()) / static_cast<double>(op.structure().repeat());
    return std::sqrt(squares / columns);
}

double signal_size(const UserArray& x, std::size_t rows) {
    double rough = 0;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < x.cols(); ++j) rough += x(i, j) * x(i, j);
    rough = std::sqrt(rough / static_cast<double>(rows * x.cols()));
    if (!(rough > 0 && std::isfinite(rough))) return 1;
    // Which entries are present is decided on numbers of size 1 that were rounded: an entry near
    // the limit would otherwise be present in one unit and not in another.
    std::vector<float> row(x.cols());
    std::vector<std::size_t> present;
    double squares = 0;
    std::size_t entries = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = static_cast<float>(x(i, j) / rough);
        present_entries(row, present);
        for (const std::size_t j : present) squares += (x(i, j) / rough) * (x(i, j) / rough);
        entries += present.size();
    }
    return rough * std::sqrt(squares / static_cast<double>(entries));
}

Units units_of(const Problem& problem) {
    return {usable(problem.signal_size ? *problem.signal_size : measured_size(problem)),
            usable(problem.column_norm ? *problem.column_norm : column_norm(problem.op))};
}

Problem in_units(const Problem& problem, const Units& units) {
    Problem result = problem;
    const double measurement = units.measurement();
    result.op = problem.op.divided(units.column);
    for (DataSet* set : {&result.train, &result.test}) {
        set->x = divided(set->x, units.signal);
        set->y = divided(set->y, measurement);
    }
    result.train_residual = divided(problem.train_residual, measurement);
    result.noise_std = in_unit(problem.noise_std, measurement);
    if (result.snr_db) result.snr_db->power /= measurement * measurement;
    // Artefacts take their size from the signals they are added to.
    for (Disturbance* d : {&result.train_disturbance, &result.test_disturbance})
        d->noise_std = in_unit(d->noise_std, units.signal);
    result.signal_size = result.column_norm = 1;
    result.normalised.reset();
    return result;
}

double in_unit(double number, double unit) { return static_cast<float>(number / unit); }

void remember_normalised(Problem& problem, Problem own, const Units& units) {
    // Coefficients in a basis have another size than the signals that were divided.
    const Units rest = units_of(own);
    if (!rest.plain()) own = in_units(own, rest);
    NormalisedProblem normalised;
    normalised.problem = std::make_shared<const Problem>(std::move(own));
    normalised.units = {units.signal * rest.signal, units.column * rest.column};
    normalised.of = data_fingerprint(problem);
    problem.normalised = std::make_shared<const NormalisedProblem>(std::move(normalised));
}

NormalisedProblem normalised(const Problem& problem) {
    if (problem.normalised && problem.normalised->of == data_fingerprint(problem))
        return *problem.normalised;
    const Units units = units_of(problem);
    if (!units.plain())
        return {std::make_shared<const Problem>(in_units(problem, units)), units, {}};
    return {std::shared_ptr<const Problem>(std::shared_ptr<void>(), &problem), units, {}};
}

Problem without_structure(const Problem& problem) {
    Problem result = problem;
    result.op = problem.op.without_structure();
    result.normalised.reset();
    if (problem.normalised && problem.normalised->of == data_fingerprint(problem))
        remember_normalised(result, without_structure(*problem.normalised->problem),
                            problem.normalised->units);
    return result;
}

}  // namespace pibinn
