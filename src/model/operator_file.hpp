#pragma once

#include <cstdint>
#include <vector>

#include "data/safetensors.hpp"
#include "pibinn/operator.hpp"

namespace pibinn {

/// The numbers that a model file holds of its operator (docs/file-format.md). Those of a mask's
/// pattern are the structure's, which the network needs too.
class StoredOperator {
public:
    /// `op` must outlive this, and this the tensors.
    explicit StoredOperator(const Operator& op);

    void add_to(std::vector<Tensor>& tensors) const;

private:
    const Operator& op_;
    std::vector<std::uint8_t> signs_;
    std::vector<float> scale_;
};

/// The operator of a file, whose structure is known and has been found to fit the file.
Operator load_operator(const SafeTensors& file, const Structure& structure);

}  // namespace pibinn
