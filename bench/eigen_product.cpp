// Compiled for this machine alone, as a person tuning for it would. The library's solvers use Eigen
// too, for every machine: under a name of its own, none of what is compiled here can stand in for
// theirs.
#define Eigen EigenOfThisMachine  // NOLINT
#include <Eigen/Core>

#include "bench/products.hpp"

namespace pibinn::bench {

namespace {

// A row-major rows x cols array is a column-major cols x rows matrix, Eigen's own order.
using Matrix = Eigen::Map<const Eigen::MatrixXf>;
using Vector = Eigen::Map<const Eigen::VectorXf>;

}  // namespace

void eigen_product(bool transposed, std::size_t rows, std::size_t inner, std::size_t outer,
                   const float* in, const float* matrix, float* out) {
    const auto r = static_cast<Eigen::Index>(rows);
    const auto i = static_cast<Eigen::Index>(inner);
    const auto o = static_cast<Eigen::Index>(outer);
    if (rows == 1) {
        Eigen::Map<Eigen::VectorXf> to(out, o);
        if (transposed)
            to.noalias() = Matrix(matrix, i, o).transpose() * Vector(in, i);
        else
            to.noalias() = Matrix(matrix, o, i) * Vector(in, i);
    } else {
        Eigen::Map<Eigen::MatrixXf> to(out, o, r);
        if (transposed)
            to.noalias() = Matrix(matrix, i, o).transpose() * Matrix(in, i, r);
        else
            to.noalias() = Matrix(matrix, o, i) * Matrix(in, i, r);
    }
}

}  // namespace pibinn::bench
