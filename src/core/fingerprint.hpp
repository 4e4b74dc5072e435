#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pibinn {

/// A short hash (FNV-1a) by which bytes are known again. Finds accidents, not forgeries.
class Fingerprint {
public:
    void mix(const void* data, std::size_t bytes);
    template <class T>
    void mix(std::span<const T> values) {
        mix(values.data(), values.size_bytes());
    }
    /// 16 hexadecimal digits.
    std::string text() const;

private:
    std::uint64_t hash_ = 14695981039346656037ULL;
};

}  // namespace pibinn
