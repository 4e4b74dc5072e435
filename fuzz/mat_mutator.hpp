#pragma once

#include "mutator.hpp"

namespace pibinn::fuzz {

/// Changes the elements of a MATLAB file of version 5: what is compressed is compressed again.
std::string mutate_mat(std::string_view bytes, std::size_t most, Dice& dice);

/// Changes a few numbers of a file of version 7.3 (HDF5), and leaves its two headers alone.
std::string mutate_mat73(std::string_view bytes, std::size_t most, Dice& dice);

}  // namespace pibinn::fuzz
