#include "pibinn/activation.hpp"

#include <array>

#include "core/names.hpp"

namespace pibinn {

namespace {

#define PIBINN_NAME(value, name) std::pair{Activation::value, std::string_view(name)},
constexpr std::array kActivationNames{PIBINN_ACTIVATIONS(PIBINN_NAME)};
#undef PIBINN_NAME

#define PIBINN_VALUE(value, name) Activation::value,
constexpr std::array kActivations{PIBINN_ACTIVATIONS(PIBINN_VALUE)};
#undef PIBINN_VALUE

}  // namespace

std::string_view to_string(Activation activation) { return name_of(kActivationNames, activation); }

Activation parse_activation(std::string_view name) {
    return parse_name(kActivationNames, name, "activation");
}

std::span<const Activation> activations() { return kActivations; }

}  // namespace pibinn
