#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "problem/basis_transform.hpp"

namespace pibinn {

namespace {

std::size_t side_of(std::size_t n) {
    const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(n))));
    if (side * side != n)
        fail_usage(fmt::format("basis dct2 needs square patches, and {} is not a square", n),
                   "use basis \"dct\", or signals of 64, 256, ... values");
    return side;
}

/// The DCT of the rows of a square patch, then that of its columns.
class Dct2 final : public BasisTransform {
public:
    explicit Dct2(std::size_t n) : side_(side_of(n)), line_(dct_transform(side_)) {}

    std::size_t length() const override { return side_ * side_; }
    void analyse(std::span<double> in, std::span<double> out) const override {
        for (std::size_t r = 0; r < side_; ++r) line_.analyse(&in[r * side_], &out[r * side_], 1);
        std::copy(out.begin(), out.end(), in.begin());
        for (std::size_t c = 0; c < side_; ++c) line_.analyse(&in[c], &out[c], side_);
    }
    void synthesise(std::span<double> in, std::span<double> out) const override {
        for (std::size_t r = 0; r < side_; ++r)
            line_.synthesise(&in[r * side_], &out[r * side_], 1);
        std::copy(out.begin(), out.end(), in.begin());
        for (std::size_t c = 0; c < side_; ++c) line_.synthesise(&in[c], &out[c], side_);
    }

private:
    std::size_t side_;
    TableTransform line_;
};

}  // namespace

extern const BasisDefinition dct2_basis;
const BasisDefinition dct2_basis{"dct2",
                                 [](std::size_t n) -> std::shared_ptr<const BasisTransform> {
                                     return std::make_shared<Dct2>(n);
                                 }};

}  // namespace pibinn
