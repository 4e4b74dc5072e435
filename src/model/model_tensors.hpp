#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/safetensors.hpp"

namespace pibinn {

// What the parts of a model file are read and written with.

inline constexpr const char* kDamagedModel = "the file is damaged or was not written by pibinn";

/// A list of numbers as a tensor; the numbers stay the caller's.
template <class T>
Tensor flat(std::string name, TensorType type, const std::vector<T>& values) {
    return make_tensor<T>(std::move(name), type, {values.size()}, values);
}

/// So many finite numbers.
std::vector<float> floats(const SafeTensors& file, const std::string& name, std::size_t expected,
                          bool non_negative = false);
std::vector<std::uint8_t> bytes_of(const SafeTensors& file, const std::string& name);

/// Metadata that is a JSON object, and how errors name it.
struct JsonMetadata {
    nlohmann::json object;
    std::string where;
};

JsonMetadata metadata_json(const SafeTensors& file, const std::string& key);

}  // namespace pibinn
