#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "data/array_format.hpp"
#include "data/npy_format.hpp"

namespace pibinn {

/// The rows of a .npy file, which are read when they are asked for.
class NpyRows final : public RowReader {
public:
    /// Puts so many bytes from a place of the file into memory, or throws.
    using ReadAt = std::function<void(std::uint64_t at, std::size_t bytes, char* into)>;
    /// Of a file of `total` bytes; `where` is its name in errors.
    NpyRows(ReadAt read_at, std::uint64_t total, std::string where);

    std::size_t rows() const override { return format_.rows; }
    std::size_t cols() const override { return format_.columns(); }
    Numbers numbers() const override { return format_.complex ? Numbers::complex : Numbers::real; }
    Batch read(std::size_t begin, std::size_t count) override;

private:
    ReadAt read_at_;
    std::string where_;
    NpyFormat format_;
};

}  // namespace pibinn
