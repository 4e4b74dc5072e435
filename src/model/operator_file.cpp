#include "model/operator_file.hpp"

#include <cmath>

#include <fmt/format.h>

#include "model/link_codes.hpp"
#include "model/model_tensors.hpp"
#include "pibinn/error.hpp"
#include "pibinn/model.hpp"

namespace pibinn {

StoredOperator::StoredOperator(const Operator& op) : op_(op) {
    if (!op.is_sign()) return;
    signs_ = pack_signs(op.values());
    scale_ = {std::abs(op.values()[0])};
}

void StoredOperator::add_to(std::vector<Tensor>& tensors) const {
    if (scale_.empty()) {
        tensors.push_back(
            make_tensor<float>("operator", TensorType::f32, {op_.values().size()}, op_.values()));
        return;
    }
    tensors.push_back(flat("operator.bits", TensorType::u8, signs_));
    tensors.push_back(flat("operator.scale", TensorType::f32, scale_));
}

Operator load_operator(const SafeTensors& file, const Structure& s) {
    if (file.find("operator.bits")) {
        const auto bits = bytes_of(file, "operator.bits");
        const float scale = floats(file, "operator.scale", 1)[0];
        if (bits.size() != bytes_for_bits(s.links()))
            fail_input(fmt::format("{}: expected {} bytes of operator signs, got {}", file.where,
                                   bytes_for_bits(s.links()), bits.size()),
                       kDamagedModel);
        AlignedBuffer<float> values(s.links());
        unpack_signs(bits, scale, values);
        return {s, std::move(values)};
    }
    const auto values = floats(file, "operator", s.links());
    return {s, {values.begin(), values.end()}};
}

std::size_t operator_bits(const Operator& op) {
    const Structure& s = op.structure();
    return (op.is_sign() ? s.links() + 32 : 32 * s.links()) +
           32 * (s.offsets().size() + s.row_indices().size());
}

}  // namespace pibinn
