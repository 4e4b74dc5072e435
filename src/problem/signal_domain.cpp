#include "pibinn/signal_domain.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr NameTable<Normalize, 4> kNormalizeNames{{{Normalize::none, "none"},
                                                   {Normalize::global, "global"},
                                                   {Normalize::patch, "patch"},
                                                   {Normalize::zscore, "zscore"}}};

double mean_of(std::span<const float> values) {
    double sum = 0;
    for (const float v : values) sum += v;
    return sum / static_cast<double>(values.size());
}

void require_fitting_basis(const SignalDomain& domain, std::size_t numbers) {
    if (!domain.fits_basis(numbers))
        fail_usage(fmt::format("rows of {} numbers do not fit a basis of {}", numbers,
                               domain.basis.length()),
                   "give signals of the length that the basis was made for");
}

}  // namespace

std::string_view to_string(Normalize normalize) { return name_of(kNormalizeNames, normalize); }
Normalize parse_normalize(std::string_view name) {
    return parse_name(kNormalizeNames, name, "normalisation");
}

bool SignalDomain::plain() const {
    return basis.is_identity() && normalize == Normalize::none && patch == 0;
}

void SignalDomain::fit(ConstBatchView train, std::string_view where) {
    mean = 0;
    deviation = 1;
    if (normalize == Normalize::none || normalize == Normalize::patch) return;
    const auto count = static_cast<double>(train.rows * train.cols);
    for (std::size_t i = 0; i < train.rows; ++i)
        mean += mean_of(train.row(i)) / static_cast<double>(train.rows);
    if (normalize == Normalize::global) return;
    double energy = 0;
    for (std::size_t i = 0; i < train.rows; ++i)
        for (const float v : train.row(i)) energy += (v - mean) * (v - mean);
    deviation = std::sqrt(energy / count);
    if (!(deviation > 1e-12 * std::abs(mean)))
        fail_input(fmt::format("'{}': all training values are {:.4g}, so zscore has no deviation "
                               "to divide by",
                               where, mean),
                   "give signals that differ, or set SignalDomain::normalize = Normalize::none");
}

Batch SignalDomain::to_coefficients(ConstBatchView signals, ThreadPool& pool,
                                    std::vector<double>* means) const {
    require_fitting_basis(*this, signals.cols);
    Batch normalised(signals.rows, signals.cols);
    if (means) means->assign(signals.rows, 0);
    for (std::size_t i = 0; i < signals.rows; ++i) {
        const auto row = signals.row(i);
        const double own = normalize == Normalize::patch ? mean_of(row) : 0;
        if (means) (*means)[i] = own;
        for (std::size_t j = 0; j < row.size(); ++j)
            normalised(i, j) = static_cast<float>((row[j] - mean - own) / deviation);
    }
    return basis.is_identity() ? normalised : basis.to_coefficients(normalised, pool);
}

Batch SignalDomain::to_signals(ConstBatchView coefficients, ThreadPool& pool,
                               const std::vector<double>* means) const {
    require_fitting_basis(*this, coefficients.cols);
    Batch signals = basis.to_signals(coefficients, pool);
    for (std::size_t i = 0; i < signals.rows(); ++i) {
        const double own = means ? (*means)[i] : 0;
        for (float& v : signals.row(i)) v = static_cast<float>(v * deviation + mean + own);
    }
    return signals;
}

}  // namespace pibinn
