#pragma once

#include <vector>

#include "mutator.hpp"

namespace pibinn::fuzz {

struct ZipMember {
    std::string name;
    std::string content;
    bool packed = false;
};

std::string pack_zip(const std::vector<ZipMember>& members);

/// Changes a member of a .npz archive, or the list of them, with sizes and CRCs right again.
std::string mutate_zip(std::string_view bytes, std::size_t most, Dice& dice);

}  // namespace pibinn::fuzz
