#include "cli/given_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pibinn/array.hpp"
#include "pibinn/npy.hpp"

namespace pibinn::cli {

namespace {

/// Rows and columns of interleaved complex numbers, in this order.
Matrix<float> reordered_pairs(const Matrix<float>& pairs, std::span<const std::uint32_t> rows,
                              std::span<const std::uint32_t> cols) {
    Matrix<float> to(rows.size(), 2 * cols.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < cols.size(); ++j)
            for (std::size_t part = 0; part < 2; ++part)
                to(i, 2 * j + part) = pairs(rows[i], 2 * std::size_t{cols[j]} + part);
    return to;
}

}  // namespace

GivenMatrix::GivenMatrix(const std::string& file, float zero_below) {
    UserArray given = read_user_array(file, Numbers::real);
    const bool complex = given.complex();
    const std::size_t rows = given.rows(), cols = given.entries();
    Matrix<float> numbers = std::move(given).take_float32();
    if (!complex) {
        entries_ = std::move(numbers);
        clear_below(entries_, zero_below);
        return;
    }
    entries_ = Matrix<float>(rows, cols);
    bool imaginary = false;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j) {
            float& re = numbers(i, 2 * j);
            float& im = numbers(i, 2 * j + 1);
            const float size = std::hypot(re, im);
            if (size < zero_below) re = im = 0;
            entries_(i, j) = size < zero_below ? 0 : size;
            imaginary = imaginary || im != 0;
        }
    if (imaginary) {
        parts_ = std::move(numbers);
        return;
    }
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j) entries_(i, j) = numbers(i, 2 * j);
}

StructureFinding GivenMatrix::find() const {
    StructureFinding finding = find_structure(entries_);
    if (complex())
        std::erase_if(finding.fits, [](const StructureFit& fit) {
            return fit.structure.kind() == StructureKind::repeated;
        });
    return finding;
}

Operator GivenMatrix::on(const StructureFinding& finding, const StructureFit& fit) const {
    const bool mask = fit.structure.kind() == StructureKind::mask;
    if (complex()) {
        const UserArray a =
            UserArray(fit.reordered ? reordered_pairs(parts_, finding.rows, finding.cols) : parts_)
                .as_complex();
        if (mask) return Operator::from_complex_sparse(a);
        return fit.structure.kind() == StructureKind::dense
                   ? Operator::from_complex(a)
                   : Operator::from_complex(a, fit.structure);
    }
    if (mask) return Operator::from_sparse(entries_);
    if (!fit.reordered) return Operator::from_dense(entries_, fit.structure);
    return Operator::from_dense(reordered(entries_, finding.rows, finding.cols), fit.structure);
}

void GivenMatrix::write(const std::filesystem::path& file, std::span<const std::uint32_t> rows,
                        std::span<const std::uint32_t> cols) const {
    if (complex())
        write_array(file.string(), reordered_pairs(parts_, rows, cols), Numbers::complex);
    else
        write_npy(file, reordered(entries_, rows, cols));
}

}  // namespace pibinn::cli
