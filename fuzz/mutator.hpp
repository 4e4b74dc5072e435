#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <string_view>

/// libFuzzer's own mutation of bytes; plain_mutation.cpp has a simple one.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace pibinn::fuzz {

class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    /// 0 .. n - 1; 0 of 0.
    std::size_t below(std::size_t n) { return n == 0 ? 0 : engine_() % n; }
    bool one_in(std::size_t n) { return below(n) == 0; }
    template <class T>
    const T& of(std::span<const T> choices) {
        return choices[below(choices.size())];
    }
    template <class T>
    T of(std::initializer_list<T> choices) {
        return choices.begin()[below(choices.size())];
    }
    /// Mostly a small size, at times one at the edge of a type.
    std::uint64_t size();
    /// A number at which readers go wrong.
    float number();

private:
    std::mt19937_64 engine_;
};

/// Bytes as libFuzzer would change them, at most `most` of them.
std::string mutate_bytes(std::string_view bytes, std::size_t most);

/// Changes a file so that it still gets past the checks of its format's outer layers. An empty
/// answer means that the bytes are no such file.
using FormatMutator = std::string (*)(std::string_view bytes, std::size_t most, Dice& dice);

/// LLVMFuzzerCustomMutator: changes that know the format most of the time, plain ones otherwise.
std::size_t mutate_file(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                        FormatMutator mutate);

template <class T>
T number_at(std::string_view bytes, std::size_t at, bool big_endian = false) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T) && at + i < bytes.size(); ++i) {
        const std::size_t shift = 8 * (big_endian ? sizeof(T) - 1 - i : i);
        value = static_cast<T>(value | static_cast<T>(static_cast<std::uint8_t>(bytes[at + i]))
                                           << shift);
    }
    return value;
}

template <class T>
std::string bytes_of(T value, bool big_endian = false) {
    std::string bytes;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        bytes += static_cast<char>(value >> 8 * (big_endian ? sizeof(T) - 1 - i : i));
    return bytes;
}

/// zlib's format, or raw deflate; at most 4 MiB are inflated.
std::string inflated(std::string_view packed, bool raw = false);
std::string deflated(std::string_view bytes, bool raw = false);

}  // namespace pibinn::fuzz
