#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "data/bytes.hpp"
#include "data/safetensors.hpp"

namespace pibinn {

namespace {

constexpr std::string_view kMetadataKey = "__metadata__";

void check_tensor(const Tensor& tensor) {
    std::size_t size = width_of(tensor.type);
    for (const std::size_t length : tensor.shape)
        ensure(!__builtin_mul_overflow(size, length, &size), "the size of a tensor fits 64 bits");
    if (size != tensor.bytes.size())
        fail_usage(fmt::format("tensor {} has {} bytes, its shape ({}) of {} needs {}",
                               shown(tensor.name), tensor.bytes.size(),
                               fmt::join(tensor.shape, ", "), to_string(tensor.type), size),
                   "give as many numbers as the shape says");
}

}  // namespace

std::string format_safetensors(std::span<const Tensor> tensors, const TensorMetadata& metadata) {
    std::vector<const Tensor*> order;
    std::set<std::string_view> names{kMetadataKey};
    for (const Tensor& tensor : tensors) {
        check_tensor(tensor);
        if (!names.insert(tensor.name).second)
            fail_usage("a file cannot hold another tensor named " + shown(tensor.name),
                       "every tensor needs a name of its own");
        order.push_back(&tensor);
    }
    std::stable_sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
        return width_of(a->type) > width_of(b->type);
    });

    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
    std::size_t offset = 0;
    for (const Tensor* tensor : order) {
        const std::size_t end = offset + tensor->bytes.size();
        header[tensor->name] = {{"dtype", to_string(tensor->type)},
                                {"shape", tensor->shape},
                                {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const nlohmann::json::exception&) {
        fail_usage("the name of a tensor or the metadata is not valid UTF-8",
                   "write text in UTF-8");
    }
    text.append((8 - text.size() % 8) % 8, ' ');

    std::string bytes;
    bytes.reserve(8 + text.size() + offset);
    append_little(bytes, std::uint64_t{text.size()});
    bytes += text;
    for (const Tensor* tensor : order)
        bytes.append(reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size());
    return bytes;
}

void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                       const TensorMetadata& metadata) {
    write_file(path, format_safetensors(tensors, metadata));
}

}  // namespace pibinn
