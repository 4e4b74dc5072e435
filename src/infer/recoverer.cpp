#include "pibinn/recoverer.hpp"

#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

void require_numbers(ConstBatchView y) {
    for (std::size_t i = 0; i < y.rows; ++i)
        for (std::size_t j = 0; j < y.cols; ++j)
            if (!std::isfinite(y(i, j)))
                fail_input(
                    fmt::format("y has {} at row {}, column {} (counted from 0)", y(i, j), i, j),
                    "replace NaN and infinite values");
}

Recoverer::Recoverer(Model model, std::string_view kernel)
    : domain_(model.domain), measurements_(model.op.rows()), entries_(model.op.cols()) {
    if (can_be_packed(model.spec))
        packed_.emplace(model, kernel);
    else
        floats_ = std::move(model);
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

Batch Recoverer::coefficients(ConstBatchView y, ThreadPool& pool,
                              std::vector<Batch>* every_layer) const {
    return packed_ ? packed_->recover_coefficients(y, pool, every_layer)
                   : recover_coefficients(*floats_, y, pool, every_layer);
}

Batch Recoverer::signals(Batch coefficients, ThreadPool& pool) const {
    return domain_.plain() ? std::move(coefficients) : domain_.to_signals(coefficients, pool);
}

}  // namespace pibinn
