#include "infer/part_copies.hpp"

#include <utility>

namespace pibinn {

PartCopies::PartCopies(std::vector<PackedPart> parts) : parts_(std::move(parts)) {
    // More than an L1 cache holds, and no more than an L2 cache does.
    constexpr std::size_t least = std::size_t{48} << 10U;
    constexpr std::size_t most = std::size_t{2} << 20U;
    if (bytes() > least && bytes() <= most) copies_ = std::make_unique<Copy[]>(kMost);
}

const std::vector<PackedPart>& PartCopies::parts_of(std::size_t worker) const {
    if (worker % kMost == 0 || copies_ == nullptr) return parts_;
    Copy& copy = copies_[worker % kMost];
    std::call_once(copy.made, [&] { copy.parts = parts_; });
    return copy.parts;
}

std::size_t PartCopies::bytes() const {
    std::size_t sum = 0;
    for (const PackedPart& part : parts_) sum += part.bytes();
    return sum;
}

}  // namespace pibinn
