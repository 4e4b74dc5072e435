#include "pibinn/activation.hpp"

#include "core/names.hpp"

namespace pibinn {

namespace {
constexpr NameTable<Activation, 3> kNames{
    {{Activation::soft, "soft"}, {Activation::hard, "hard"}, {Activation::relu, "relu"}}};
}

std::string_view to_string(Activation activation) { return name_of(kNames, activation); }

Activation parse_activation(std::string_view name) {
    return parse_name(kNames, name, "activation");
}

}  // namespace pibinn
