#include "study/model_json.hpp"

#include <nlohmann/json.hpp>

namespace pibinn::study {

using nlohmann::ordered_json;

ordered_json model_json(const Model& model) {
    ordered_json json = {{"layers", model.spec.layers},
                         {"weights", to_string(model.spec.weights)},
                         {"activation", to_string(model.spec.activation)},
                         {"update", to_string(model.spec.update)},
                         {"structure", to_string(model.op.structure().kind())},
                         {"delta", model.spec.delta},
                         {"links", model.links()}};
    if (model.domain.complex) json["complex"] = true;
    if (model.domain.vectors > 1) json["vectors"] = model.domain.vectors;
    if (model.spec.has_gains()) json["pieces"] = model.spec.pieces;
    if (model.spec.groups != Groups::none) json["groups"] = to_string(model.spec.groups);
    if (model.spec.neighbours > 0) json["neighbours"] = model.spec.neighbours;
    if (model.spec.centre) json["centre"] = true;
    if (model.spec.polish > 0) json["polish"] = model.spec.polish;
    return json;
}

ordered_json bits_json(const BitCount& bits) {
    return {{"weights", bits.weights}, {"thresholds", bits.thresholds}, {"momentum", bits.momentum},
            {"scales", bits.scales},   {"operator", bits.op},           {"paper", bits.paper},
            {"total", bits.total}};
}

}  // namespace pibinn::study
