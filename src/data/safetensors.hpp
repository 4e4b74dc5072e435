#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/error.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

/// The number types of the safetensors format whose numbers are whole bytes.
enum class TensorType {
    boolean,
    u8,
    i8,
    f8_e5m2,
    f8_e4m3,
    f8_e8m0,
    i16,
    u16,
    f16,
    bf16,
    i32,
    u32,
    f32,
    i64,
    u64,
    f64,
    c64
};

std::string_view to_string(TensorType type);  ///< as the format spells it: "U8", "F32"
std::size_t width_of(TensorType type);        ///< bytes a number

/// A named array whose bytes (little-endian, C order) someone else owns.
struct Tensor {
    std::string name;
    TensorType type = TensorType::u8;
    std::vector<std::size_t> shape;  ///< empty for a single number
    std::span<const std::byte> bytes;
};

using TensorMetadata = std::map<std::string, std::string>;

/// What a safetensors file holds. The tensors look into the bytes that were parsed.
struct SafeTensors {
    std::string where;            ///< the name errors give to the file
    std::vector<Tensor> tensors;  ///< in the order of their bytes
    TensorMetadata metadata;

    const Tensor* find(std::string_view name) const;
    /// The tensor of this name and type; an error when it is missing or of another type.
    const Tensor& at(std::string_view name, TensorType type) const;
};

/// Reads a safetensors file held in memory, believing nothing: header length, UTF-8, JSON,
/// duplicate keys, types, shapes and offsets are checked, and the tensors must cover the buffer
/// without gaps or overlaps. Allocates in proportion to the header, never to what it claims.
SafeTensors parse_safetensors(std::string_view bytes, std::string where);

/// The numbers of a tensor, copied out since a file need not align them.
template <class T>
AlignedBuffer<T> values_of(const Tensor& tensor) {
    ensure(sizeof(T) == width_of(tensor.type), "a tensor is read as numbers of its own width");
    AlignedBuffer<T> values(tensor.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

/// A view on numbers as the bytes of a tensor to be written.
template <class T>
Tensor make_tensor(std::string name, TensorType type, std::vector<std::size_t> shape,
                   std::span<const T> values) {
    return {std::move(name), type, std::move(shape), std::as_bytes(values)};
}

/// The file as bytes. Wider numbers come first and otherwise the order given is kept: as the format
/// allows no padding between tensors, this is what keeps every tensor aligned. The same tensors and
/// metadata give the same bytes.
std::string format_safetensors(std::span<const Tensor> tensors, const TensorMetadata& metadata);

/// format_safetensors into a file that appears whole or not at all.
void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                       const TensorMetadata& metadata);

}  // namespace pibinn
