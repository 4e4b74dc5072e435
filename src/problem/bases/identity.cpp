#include "problem/basis_transform.hpp"

namespace pibinn {

extern const BasisDefinition identity_basis;
const BasisDefinition identity_basis{
    "identity", [](std::size_t) { return std::shared_ptr<const BasisTransform>(); }};

}  // namespace pibinn
