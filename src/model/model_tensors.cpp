#include "model/model_tensors.hpp"

#include <cmath>

#include <fmt/format.h>

#include "data/json_fields.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

std::vector<float> floats(const SafeTensors& file, const std::string& name, std::size_t expected,
                          bool non_negative) {
    const Tensor& tensor = file.at(name, TensorType::f32);
    const auto values = values_of<float>(tensor);
    if (values.size() != expected)
        fail_input(fmt::format("{}: tensor '{}' has {} numbers, expected {}", file.where, name,
                               values.size(), expected),
                   kDamagedModel);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]) || (non_negative && values[i] < 0))
            fail_input(
                fmt::format("{}: number {} of tensor '{}' is {}", file.where, i, name, values[i]),
                kDamagedModel);
    return {values.begin(), values.end()};
}

std::vector<std::uint8_t> bytes_of(const SafeTensors& file, const std::string& name) {
    const auto values = values_of<std::uint8_t>(file.at(name, TensorType::u8));
    return {values.begin(), values.end()};
}

JsonMetadata metadata_json(const SafeTensors& file, const std::string& key) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end())
        fail_input(fmt::format("{}: metadata '{}' is missing", file.where, key),
                   "this safetensors file is not a pibinn model");
    const std::string where = fmt::format("{}: metadata '{}'", file.where, key);
    return {parse_json_object(found->second, where), where};
}

}  // namespace pibinn
