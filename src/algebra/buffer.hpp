#pragma once

#include <cstddef>
#include <type_traits>

namespace pibinn {

/// Numbers that live where their backend wants them. Only that backend can reach them: others hold
/// them, pass views of them on, and ask the backend to upload and download.
class Buffer {
public:
    virtual ~Buffer() = default;
};

/// A range of the numbers of a buffer; empty where a network has no such numbers.
template <class B>
struct BasicBufferView {
    B* buffer = nullptr;
    std::size_t offset = 0;
    std::size_t count = 0;

    bool empty() const { return count == 0; }
    BasicBufferView part(std::size_t first, std::size_t size) const {
        return {buffer, offset + first, size};
    }
    operator BasicBufferView<const B>() const requires(!std::is_const_v<B>) {
        return {buffer, offset, count};
    }
};

using BufferView = BasicBufferView<Buffer>;
using ConstBufferView = BasicBufferView<const Buffer>;

}  // namespace pibinn
