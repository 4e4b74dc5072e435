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

/// What stands before the numbers, and the tensors in the order of the file.
struct Layout {
    std::string start;
    std::vector<const Tensor*> order;
    std::size_t bytes = 0;  ///< of all tensors
};

Layout lay_out(std::span<const Tensor> tensors, const TensorMetadata& metadata) {
    Layout layout;
    std::vector<const Tensor*>& order = layout.order;
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
    append_little(layout.start, std::uint64_t{text.size()});
    layout.start += text;
    layout.bytes = offset;
    return layout;
}

}  // namespace

std::string format_safetensors(std::span<const Tensor> tensors, const TensorMetadata& metadata) {
    Layout layout = lay_out(tensors, metadata);
    std::string bytes = std::move(layout.start);
    bytes.reserve(bytes.size() + layout.bytes);
    for (const Tensor* tensor : layout.order)
        bytes.append(reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size());
    return bytes;
}

void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                       const TensorMetadata& metadata) {
    const Layout layout = lay_out(tensors, metadata);
    AtomicFile file(path);
    file.write(layout.start);
    for (const Tensor* tensor : layout.order)
        file.write(tensor->bytes.data(), tensor->bytes.size());
    file.commit();
}

}  // namespace pibinn
