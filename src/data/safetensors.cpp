#include "data/safetensors.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/names.hpp"
#include "core/nesting.hpp"
#include "data/bytes.hpp"

namespace pibinn {

namespace {

using nlohmann::json;

struct TypeFacts {
    TensorType type;
    std::string_view name;
    std::size_t width;
};

constexpr std::array<TypeFacts, 17> kTypes{{{TensorType::boolean, "BOOL", 1},
                                            {TensorType::u8, "U8", 1},
                                            {TensorType::i8, "I8", 1},
                                            {TensorType::f8_e5m2, "F8_E5M2", 1},
                                            {TensorType::f8_e4m3, "F8_E4M3", 1},
                                            {TensorType::f8_e8m0, "F8_E8M0", 1},
                                            {TensorType::i16, "I16", 2},
                                            {TensorType::u16, "U16", 2},
                                            {TensorType::f16, "F16", 2},
                                            {TensorType::bf16, "BF16", 2},
                                            {TensorType::i32, "I32", 4},
                                            {TensorType::u32, "U32", 4},
                                            {TensorType::f32, "F32", 4},
                                            {TensorType::i64, "I64", 8},
                                            {TensorType::u64, "U64", 8},
                                            {TensorType::f64, "F64", 8},
                                            {TensorType::c64, "C64", 8}}};

constexpr std::uint64_t kLargestHeader = 100'000'000;  // the limit of the format
constexpr std::size_t kLongestShape = 32;
constexpr int kDeepestHeader = 3;  // file, tensor, shape

[[noreturn]] void fail_file(const std::string& where, const std::string& why) {
    fail_input(fmt::format("'{}' is not a valid safetensors file: {}", where, why),
               "copy or save the file again");
}

/// The header as JSON. The plain parser keeps one of two equal keys and lets arrays grow without
/// end; the callback refuses that while it reads.
json parse_header(std::string_view text, const std::string& where) {
    require_depth(text, TextSyntax::json, kDeepestHeader, fmt::format("the header of '{}'", where));
    std::vector<std::set<std::string>> keys;
    std::size_t array_length = 0;
    const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
        switch (event) {
            case json::parse_event_t::object_start:
                keys.emplace_back();
                [[fallthrough]];
            case json::parse_event_t::array_start:
                array_length = 0;
                break;
            case json::parse_event_t::object_end:
                keys.pop_back();
                break;
            case json::parse_event_t::key:
                if (!keys.back().insert(parsed.get<std::string>()).second)
                    fail_file(where, "its header has the key " +
                                         shown(parsed.get_ref<const std::string&>()) + " twice");
                break;
            case json::parse_event_t::value:
                if (depth == kDeepestHeader && ++array_length > kLongestShape)
                    fail_file(where, fmt::format("its header has a list of over {} numbers",
                                                 kLongestShape));
                break;
            default:
                break;
        }
        return true;
    };
    try {
        return json::parse(text.begin(), text.end(), check);
    } catch (const json::parse_error& error) {
        fail_file(where, fmt::format("its header is not valid JSON in UTF-8 (near byte {})",
                                     8 + error.byte));
    } catch (const json::exception&) {  // a number that no type holds
        fail_file(where, "its header has a number that is out of range");
    }
}

/// A list of numbers that are whole and not negative, or nothing.
std::optional<std::vector<std::size_t>> whole_numbers(const json& list) {
    if (!list.is_array()) return std::nullopt;
    std::vector<std::size_t> values;
    for (const json& value : list) {
        if (!value.is_number_unsigned()) return std::nullopt;
        values.push_back(value.get<std::size_t>());
    }
    return values;
}

Tensor read_tensor(const std::string& name, const json& entry, std::string_view buffer,
                   const std::string& where) {
    const auto fail = [&](const std::string& why) {
        fail_file(where, "tensor " + shown(name) + " " + why);
    };
    if (!entry.is_object()) fail("is not a JSON object");
    for (const auto& [key, value] : entry.items())
        if (key != "dtype" && key != "shape" && key != "data_offsets")
            fail("has the unknown field " + shown(key));
    for (const char* field : {"dtype", "shape", "data_offsets"})
        if (!entry.contains(field)) fail(fmt::format("has no '{}'", field));

    Tensor tensor;
    tensor.name = name;
    if (!entry["dtype"].is_string()) fail("has a 'dtype' that is not a string");
    const auto& type_name = entry["dtype"].get_ref<const std::string&>();
    const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const TypeFacts& t) { return t.name == type_name; });
    if (type == kTypes.end()) fail("has the unknown dtype " + shown(type_name));
    tensor.type = type->type;

    const auto shape = whole_numbers(entry["shape"]);
    if (!shape) fail("has a 'shape' that is not a list of whole numbers");
    tensor.shape = *shape;
    std::uint64_t size = type->width;
    for (const std::size_t length : tensor.shape)
        if (__builtin_mul_overflow(size, length, &size))
            fail(fmt::format("has a shape ({}) beyond 64 bits", fmt::join(tensor.shape, ", ")));

    const auto offsets = whole_numbers(entry["data_offsets"]);
    if (!offsets || offsets->size() != 2) fail("has 'data_offsets' that are not two whole numbers");
    const std::uint64_t begin = (*offsets)[0], end = (*offsets)[1];
    if (begin > end || end > buffer.size())
        fail(fmt::format("has the offsets {} to {}, outside the {} bytes of data", begin, end,
                         buffer.size()));
    if (end - begin != size)
        fail(fmt::format("has {} bytes (offsets {} to {}), its shape ({}) of {} needs {}",
                         end - begin, begin, end, fmt::join(tensor.shape, ", "), type->name, size));
    tensor.bytes = std::as_bytes(std::span(buffer.data() + begin, size));
    return tensor;
}

TensorMetadata read_metadata(const json& entry, const std::string& where) {
    if (!entry.is_object()) fail_file(where, "its '__metadata__' is not a JSON object");
    TensorMetadata metadata;
    for (const auto& [key, value] : entry.items()) {
        if (!value.is_string())
            fail_file(where, "the value of " + shown(key) + " in '__metadata__' is not a string");
        metadata.emplace(key, value.get<std::string>());
    }
    return metadata;
}

/// The format demands that the tensors, in the order of their bytes, cover the data exactly.
void check_coverage(const SafeTensors& file, std::string_view buffer) {
    const auto offset = [&](const Tensor& t) {
        return static_cast<std::size_t>(reinterpret_cast<const char*>(t.bytes.data()) -
                                        buffer.data());
    };
    std::size_t covered = 0;
    for (const Tensor& tensor : file.tensors) {
        if (offset(tensor) != covered)
            fail_file(
                file.where,
                fmt::format("tensor {} starts at {} {} at {}", shown(tensor.name), offset(tensor),
                            offset(tensor) < covered ? "and overlaps the one that ends"
                                                     : "and leaves a hole after the one that ends",
                            covered));
        covered += tensor.bytes.size();
    }
    if (covered != buffer.size())
        fail_file(file.where,
                  fmt::format("its tensors end at {} of {} bytes of data", covered, buffer.size()));
}

}  // namespace

std::string_view to_string(TensorType type) { return kTypes[static_cast<std::size_t>(type)].name; }

std::size_t width_of(TensorType type) { return kTypes[static_cast<std::size_t>(type)].width; }

const Tensor* SafeTensors::find(std::string_view name) const {
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const Tensor& t) { return t.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

const Tensor& SafeTensors::at(std::string_view name, TensorType type) const {
    const Tensor* const tensor = find(name);
    if (!tensor)
        fail_input(fmt::format("'{}' has no tensor '{}'", where, name),
                   "the file is of another kind, or damaged");
    if (tensor->type != type)
        fail_input(fmt::format("tensor '{}' of '{}' is {}, not {}", name, where,
                               to_string(tensor->type), to_string(type)),
                   "the file is of another kind, or damaged");
    return *tensor;
}

SafeTensors parse_safetensors(std::string_view bytes, std::string where) {
    SafeTensors file;
    file.where = std::move(where);
    if (bytes.size() < 8)
        fail_file(file.where, fmt::format("it has {} bytes, fewer than the 8 of the header length",
                                          bytes.size()));
    const auto length = load_little<std::uint64_t>(bytes, 0, file.where);
    if (length > kLargestHeader || length > bytes.size() - 8)
        fail_file(file.where, fmt::format("its header is said to have {} bytes; {} follow, and at "
                                          "most {} are allowed",
                                          length, bytes.size() - 8, kLargestHeader));
    const std::string_view text = bytes.substr(8, length);
    if (!text.starts_with('{')) fail_file(file.where, "its header does not start with '{'");
    const std::string_view buffer = bytes.substr(8 + length);

    const json header = parse_header(text, file.where);
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__")
            file.metadata = read_metadata(entry, file.where);
        else
            file.tensors.push_back(read_tensor(name, entry, buffer, file.where));
    }
    // An empty tensor stands before the one that starts at the same place.
    std::stable_sort(file.tensors.begin(), file.tensors.end(), [](const auto& a, const auto& b) {
        return std::pair(a.bytes.data(), a.bytes.size()) <
               std::pair(b.bytes.data(), b.bytes.size());
    });
    check_coverage(file, buffer);
    return file;
}

}  // namespace pibinn
