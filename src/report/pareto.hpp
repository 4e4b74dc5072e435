#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pibinn {

/// What one choice costs and how far it is off; less is better in both.
struct Trade {
    double cost = 0;
    double error = 0;
};

/// Indices of the choices that no other one beats: none costs as little and errs as little with
/// one of the two less. By rising cost, equals in the order given. What is no number is no choice.
std::vector<std::size_t> pareto_front(std::span<const Trade> trades);

}  // namespace pibinn
