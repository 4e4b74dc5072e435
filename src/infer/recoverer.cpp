#include "pibinn/recoverer.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "model/model_parameters.hpp"
#include "model/prepared_network.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// Without a branch per value, so that the compiler makes vectors of it: the sum has its highest
/// bit where all bits of an exponent are set.
bool all_finite(std::span<const float> values) {
    std::uint32_t any = 0;
    for (const float v : values)
        any |= (std::bit_cast<std::uint32_t>(v) & 0x7fffffffU) + 0x00800000U;
    return any < 0x80000000U;
}

/// A value that is not a number, and its place.
struct Flaw {
    std::size_t row, column;
    float value;
};

std::optional<Flaw> first_flaw(ConstBatchView rows) {
    for (std::size_t i = 0; i < rows.rows; ++i) {
        if (all_finite(rows.row(i))) continue;
        for (std::size_t j = 0; j < rows.cols; ++j)
            if (!std::isfinite(rows(i, j))) return Flaw{i, j, rows(i, j)};
    }
    return std::nullopt;
}

}  // namespace

void require_numbers(ConstBatchView y) {
    if (const auto flaw = first_flaw(y))
        fail_input(fmt::format("y has {} at row {}, column {} (counted from 0)", flaw->value,
                               flaw->row, flaw->column),
                   "replace NaN and infinite values");
}

void require_recovered(ConstBatchView x, std::size_t first_row) {
    if (const auto flaw = first_flaw(x))
        fail_input(fmt::format("row {} is recovered as {} at entry {} (counted from 0)",
                               first_row + flaw->row, flaw->value, flaw->column),
                   "its measurements are too large for float32: give them in a larger unit");
}

Recoverer::Recoverer(Model model, std::string_view kernel)
    : domain_(model.domain), measurements_(model.op.rows()), entries_(model.op.cols()) {
    require_fitting(model);
    if (can_be_packed(model.spec))
        packed_.emplace(model, kernel);
    else
        floats_ = std::make_shared<const PreparedNetwork>(model);
}

Batch Recoverer::operator()(ConstBatchView y) const {
    ThreadPool caller(1);
    return (*this)(y, caller);
}

Batch Recoverer::operator()(ConstBatchView y, ThreadPool& pool) const {
    if (y.cols != measurements_)
        fail_input(fmt::format("expected {} measurements per row, got {}", measurements_, y.cols),
                   "give measurements made by this model's operator");
    require_numbers(y);
    return signals(coefficients(y, pool), pool);
}

Batch Recoverer::coefficients(ConstBatchView y, ThreadPool& pool, std::vector<Batch>* every_layer,
                              std::size_t first_row) const {
    Batch x = packed_ ? packed_->recover_coefficients(y, pool, every_layer)
                      : floats_->recover_coefficients(y, pool, every_layer);
    require_recovered(x, first_row);
    if (every_layer != nullptr)
        for (const Batch& layer : *every_layer) require_recovered(layer, first_row);
    return x;
}

Batch Recoverer::signals(Batch coefficients, ThreadPool& pool, std::size_t first_row) const {
    if (domain_.plain()) return coefficients;
    Batch signals = domain_.to_signals(coefficients, pool);
    require_recovered(signals, first_row);
    return signals;
}

}  // namespace pibinn
