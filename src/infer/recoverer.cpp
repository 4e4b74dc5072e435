#include "pibinn/recoverer.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "infer/device_recovery.hpp"
#include "model/model_parameters.hpp"
#include "model/prepared_network.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// Whether no magnitude is over `most`, and so none is NaN or infinite. Without a branch per value:
/// magnitudes are ordered as their bits are, and the sum has its highest bit where one is over.
/// Eight at a time, of which -O2 makes vectors: 100 numbers take 7 ns; one at a time took 32, and
/// looking at measurements and signals then was 3 % of recovering them in batches.
bool all_within(std::span<const float> values, float most) {
    constexpr std::size_t width = 8;
    const std::uint32_t up_to = 0x7fffffffU - std::bit_cast<std::uint32_t>(most);
    const auto size_of = [up_to](float v) {
        return (std::bit_cast<std::uint32_t>(v) & 0x7fffffffU) + up_to;
    };
    std::array<std::uint32_t, width> any{};
    std::size_t i = 0;
    for (; i + width <= values.size(); i += width)
        for (std::size_t l = 0; l < width; ++l) any[l] |= size_of(values[i + l]);
    for (; i < values.size(); ++i) any[0] |= size_of(values[i]);
    std::uint32_t all = 0;
    for (const std::uint32_t one : any) all |= one;
    return all < 0x80000000U;
}

/// A value that is over, and its place.
struct Flaw {
    std::size_t row, column;
    float value;
};

std::optional<Flaw> first_flaw(ConstBatchView rows, float most) {
    if (all_within({rows.data, rows.rows * rows.cols}, most)) return std::nullopt;
    for (std::size_t i = 0; i < rows.rows; ++i) {
        if (all_within(rows.row(i), most)) continue;
        for (std::size_t j = 0; j < rows.cols; ++j)
            if (!(std::abs(rows(i, j)) <= most)) return Flaw{i, j, rows(i, j)};
    }
    return std::nullopt;
}

/// The column of a number of split rows as its owner counts it.
std::string place(std::size_t column, std::size_t columns, const RowLayout& layout) {
    if (!layout.complex) return fmt::to_string(column);
    const std::size_t n = columns / layout.vectors / 2;  // entries of one vector
    const std::size_t within = column % (2 * n);
    return fmt::format("{}{}", column / (2 * n) * n + within % n,
                       within < n ? "" : ", imaginary part");
}

}  // namespace

void require_numbers(ConstBatchView y, std::size_t first_row, const RowLayout& layout) {
    const auto flaw = first_flaw(y, kLargestMeasurement);
    if (!flaw) return;
    const bool finite = std::isfinite(flaw->value);
    fail_input(fmt::format("y has {} at row {}, column {} (counted from 0){}", flaw->value,
                           first_row + flaw->row, place(flaw->column, y.cols, layout),
                           finite ? fmt::format(", over {}", kLargestMeasurement) : ""),
               finite ? "float32 would overflow on the way: give measurements in a larger unit"
                      : "replace NaN and infinite values");
}

void require_recovered(ConstBatchView x, std::size_t first_row, const RowLayout& layout) {
    if (const auto flaw = first_flaw(x, std::numeric_limits<float>::max()))
        fail_input(
            fmt::format("row {} is recovered as {} at entry {} (counted from 0)",
                        first_row + flaw->row, flaw->value, place(flaw->column, x.cols, layout)),
            "float32 overflows on the way: the measurements or the weights are too large");
}

Recoverer::Recoverer(Model model, std::string_view kernel)
    : domain_(model.domain), measurements_(model.op.rows()), entries_(model.op.cols()) {
    require_fitting(model);
    if (names_device(kernel))
        device_ = std::make_shared<const DeviceModel>(model, kernel);
    else if (can_be_packed(model))
        packed_.emplace(model, kernel);
    else
        floats_ = std::make_shared<const PreparedNetwork>(model);
}

std::string Recoverer::kernel() const {
    if (device_) return device_->kernel();
    return packed_ ? packed_->kernel() : "float";
}

Batch Recoverer::operator()(ConstBatchView y) const {
    ThreadPool caller(1);
    return (*this)(y, caller);
}

Batch Recoverer::operator()(ConstBatchView y, ThreadPool& pool) const {
    return signals(coefficients(y, pool), pool);
}

Matrix<std::complex<float>> Recoverer::complex_signals(MatrixView<const std::complex<float>> y,
                                                       ThreadPool& pool) const {
    if (!domain_.complex)
        fail_usage("complex signals of a model of real ones",
                   domain_.complex_measurements
                       ? "its measurements alone are complex: split them with split_complex"
                       : "call it with real measurements");
    if (2 * y.cols != measurements_)
        fail_input(fmt::format("expected {} complex measurements per row, got {}",
                               measurements_ / 2, y.cols),
                   "give measurements made by this model's operator");
    return join_complex((*this)(split_complex(y, domain_.vectors), pool), domain_.vectors);
}

Batch Recoverer::coefficients(ConstBatchView y, ThreadPool& pool, std::vector<Batch>* every_layer,
                              std::size_t first_row) const {
    if (y.cols != measurements_)
        fail_input(fmt::format("expected {} measurements per row, got {}", measurements_, y.cols),
                   "give measurements made by this model's operator");
    const RowLayout layout = domain_.signal_rows();
    require_numbers(y, first_row, domain_.measurement_rows());
    Batch x = device_   ? device_->recover_coefficients(y, every_layer)
              : packed_ ? packed_->recover_coefficients(y, pool, every_layer)
                        : floats_->recover_coefficients(y, pool, every_layer);
    require_recovered(x, first_row, layout);
    if (every_layer != nullptr)
        for (const Batch& layer : *every_layer) require_recovered(layer, first_row, layout);
    return x;
}

Batch Recoverer::signals(Batch coefficients, ThreadPool& pool, std::size_t first_row) const {
    if (domain_.plain()) return coefficients;
    Batch signals = domain_.to_signals(coefficients, pool);
    require_recovered(signals, first_row, domain_.signal_rows());
    return signals;
}

}  // namespace pibinn
