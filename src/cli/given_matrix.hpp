#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "pibinn/matrix.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/structure_finder.hpp"

namespace pibinn::cli {

/// A matrix whose structure is looked for, real or complex. Entries of a magnitude below
/// `zero_below` count as zero. A complex one without an imaginary part is taken as real.
class GivenMatrix {
public:
    GivenMatrix(const std::string& file, float zero_below);

    bool complex() const { return parts_.size() > 0; }
    /// Entries, or the magnitudes of complex ones: what zeros are read off.
    MatrixView<const float> entries() const { return entries_; }
    /// What can be read off its zeros. Complex blocks of equal magnitudes need not be equal, and a
    /// `repeated` complex operator is one vector of a row per block: they are `blocks`.
    StructureFinding find() const;
    /// The matrix as an operator on one of the structures found.
    Operator on(const StructureFinding& finding, const StructureFit& fit) const;
    /// Some rows and columns as a .npy file.
    void write(const std::filesystem::path& file, std::span<const std::uint32_t> rows,
               std::span<const std::uint32_t> cols) const;

private:
    Matrix<float> entries_;
    Matrix<float> parts_;  ///< real and imaginary part in turn; empty where real
};

}  // namespace pibinn::cli
