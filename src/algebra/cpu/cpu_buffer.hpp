#pragma once

#include <span>

#include "algebra/buffer.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn::cpu {

/// Plain memory.
class CpuBuffer final : public Buffer {
public:
    explicit CpuBuffer(std::size_t count) : values(count) {}
    AlignedBuffer<float> values;
};

inline std::span<float> numbers(BufferView view) {
    if (view.empty()) return {};
    return std::span(static_cast<CpuBuffer*>(view.buffer)->values).subspan(view.offset, view.count);
}

inline std::span<const float> numbers(ConstBufferView view) {
    if (view.empty()) return {};
    return std::span(static_cast<const CpuBuffer*>(view.buffer)->values)
        .subspan(view.offset, view.count);
}

/// The only number of a view, 0 of an empty one.
inline float number(ConstBufferView view) { return view.empty() ? 0.0F : numbers(view)[0]; }

inline void add_to_number(BufferView view, double value) {
    if (!view.empty()) numbers(view)[0] += static_cast<float>(value);
}

}  // namespace pibinn::cpu
