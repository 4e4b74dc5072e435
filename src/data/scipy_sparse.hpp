#pragma once

#include <optional>

#include "data/npz_archive.hpp"
#include "pibinn/sparse_matrix.hpp"

namespace pibinn {

/// The matrix of an archive that scipy.sparse.save_npz wrote, in the formats csr, csc, coo and dia;
/// nothing where the archive is no such one. Indices that do not fit the shape, lengths that do not
/// fit each other and values that are not numbers are input errors.
std::optional<SparseMatrix> read_scipy_sparse(const NpzArchive& archive);

}  // namespace pibinn
