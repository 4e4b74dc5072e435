// room: algebra
#pragma once

#include <string_view>

namespace pibinn {

enum class Activation {
    soft,  ///< sign(z) max(|z| - theta, 0)
    hard,  ///< z where |z| >= theta, else 0
    relu   ///< z where z >= 0, else 0: the paper's literal "HT"; has no threshold
};

std::string_view to_string(Activation activation);
Activation parse_activation(std::string_view name);

template <class T>
T activate(Activation activation, T z, T theta) {
    switch (activation) {
        case Activation::soft:
            return z > theta ? z - theta : (z < -theta ? z + theta : T{0});
        case Activation::hard:
            return z >= theta || z <= -theta ? z : T{0};
        case Activation::relu:
            return z > T{0} ? z : T{0};
    }
    return z;
}

}  // namespace pibinn
