#include "problem/basis_transform.hpp"

namespace pibinn {

extern const BasisDefinition dct_basis;
const BasisDefinition dct_basis{"dct", [](std::size_t n) -> std::shared_ptr<const BasisTransform> {
                                    return std::make_shared<TableTransform>(dct_transform(n));
                                }};

}  // namespace pibinn
