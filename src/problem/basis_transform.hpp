#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// What a basis does to one signal, in float64. `in` is overwritten where that helps.
class BasisTransform {
public:
    virtual ~BasisTransform() = default;
    virtual std::size_t length() const = 0;
    /// out = Psi^T in; of complex numbers Psi^H in.
    virtual void analyse(std::span<double> in, std::span<double> out) const = 0;
    /// out = Psi in.
    virtual void synthesise(std::span<double> in, std::span<double> out) const = 0;
};

/// What is particular to one basis.
struct BasisDefinition {
    std::string_view name;
    /// The transform of signals of n entries, null for the identity. A basis without this function
    /// does not follow from a length alone.
    std::shared_ptr<const BasisTransform> (*make)(std::size_t n) = nullptr;
    /// Of complex signals: a transform of 2 n numbers, all real parts before all imaginary parts.
    bool complex = false;
};

/// The analysis as a table of one basis vector per row.
class TableTransform final : public BasisTransform {
public:
    explicit TableTransform(Matrix<double> table) : table_(std::move(table)) {}

    std::size_t length() const override { return table_.rows(); }
    void analyse(std::span<double> in, std::span<double> out) const override {
        analyse(in.data(), out.data(), 1);
    }
    void synthesise(std::span<double> in, std::span<double> out) const override {
        synthesise(in.data(), out.data(), 1);
    }
    /// The same of vectors whose entries stand `stride` apart.
    void analyse(const double* in, double* out, std::size_t stride) const;
    void synthesise(const double* in, double* out, std::size_t stride) const;

private:
    Matrix<double> table_;
};

/// The orthonormal DCT-II: row k is sqrt(2 / n) cos(pi (2 i + 1) k / (2 n)), the first 1 / sqrt(n).
TableTransform dct_transform(std::size_t n);

}  // namespace pibinn
