#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Eigenvalues>

#include "algebra/products.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/random.hpp"

namespace pibinn {

namespace {

// Power iteration takes thousands of products where singular values lie close together, as those of
// large random matrices do: 5000 x 10000 took more than a minute. Lanczos takes about a hundred,
// and has to keep all directions that it went.
constexpr std::size_t kFewLinks = std::size_t{1} << 20;
constexpr std::size_t kMostColumns = std::size_t{1} << 16;  // of directions that are kept
constexpr std::size_t kMostPowers = 10000;
constexpr std::size_t kMostDirections = 400;
constexpr std::size_t kDirectionsPerLook = 8;
constexpr double kSettled = 1e-12;  // far below what a step size needs

/// A of one repetition, in float64.
class NormProducts {
public:
    NormProducts(const Structure& structure, std::span<const float> values)
        : structure_(structure), a_(values.begin(), values.end()), y_(1, structure.rows()) {}

    /// x becomes A^T A x; returns x^T A^T A x.
    double apply(Matrix<double>& x) {
        apply_links<double>(structure_, a_, x, y_, pool_);
        double energy = 0;
        for (double v : y_.values()) energy += v * v;
        adjoint_links<double>(structure_, a_, y_, x, pool_);
        return energy;
    }
    /// A start that has a component along every direction with probability one.
    Matrix<double> start() const {
        Stream stream(0, Purpose::operator_entries, 1);
        Matrix<double> x(1, structure_.cols());
        for (double& v : x.values()) v = stream.normal();
        return x;
    }

private:
    const Structure& structure_;
    AlignedBuffer<double> a_;
    Matrix<double> y_;
    ThreadPool pool_{1};
};

/// Divides by the length, and returns it; leaves zeros alone.
double normalise(Matrix<double>& x) {
    double length = 0;
    for (double v : x.values()) length += v * v;
    length = std::sqrt(length);
    if (length == 0) return 0;
    for (double& v : x.values()) v /= length;
    return length;
}

double by_powers(NormProducts& products) {
    Matrix<double> x = products.start();
    double norm = 0;
    for (std::size_t power = 0; power < kMostPowers; ++power) {
        if (normalise(x) == 0) return 0;
        const double next = products.apply(x);
        const bool settled = std::abs(next - norm) <= kSettled * next;
        norm = next;
        if (settled) break;
    }
    return norm;
}

double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside) {
    const auto size = static_cast<Eigen::Index>(diagonal.size());
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    solver.computeFromTridiagonal(Eigen::Map<const Eigen::VectorXd>(diagonal.data(), size),
                                  Eigen::Map<const Eigen::VectorXd>(beside.data(), size - 1),
                                  Eigen::EigenvaluesOnly);
    return solver.eigenvalues()(size - 1);
}

double by_lanczos(NormProducts& products) {
    std::vector<Matrix<double>> directions{products.start()};
    normalise(directions.front());
    std::vector<double> diagonal, beside;
    double norm = 0;
    while (diagonal.size() < kMostDirections) {
        Matrix<double> next = directions.back();
        diagonal.push_back(products.apply(next));
        // Twice, since once leaves what rounding left of the directions before.
        for (int turn = 0; turn < 2; ++turn)
            for (const Matrix<double>& direction : directions) {
                double along = 0;
                for (std::size_t j = 0; j < next.size(); ++j)
                    along += direction.values()[j] * next.values()[j];
                for (std::size_t j = 0; j < next.size(); ++j)
                    next.values()[j] -= along * direction.values()[j];
            }
        const double length = normalise(next);
        const bool exhausted = length <= kSettled * diagonal.front();
        if (exhausted || diagonal.size() % kDirectionsPerLook == 0) {
            const double now = largest_eigenvalue(diagonal, beside);
            const bool settled = std::abs(now - norm) <= kSettled * now;
            norm = now;
            if (exhausted || settled) break;
        }
        beside.push_back(length);
        directions.push_back(std::move(next));
    }
    return norm;
}

}  // namespace

double Operator::squared_norm() const {
    const Structure one = structure_.repeat() > 1 ? Structure::dense(rows() / structure_.repeat(),
                                                                     cols() / structure_.repeat())
                                                  : structure_;
    NormProducts products(one, values_);
    const bool large = values_.size() > kFewLinks && one.cols() <= kMostColumns;
    return large ? by_lanczos(products) : by_powers(products);
}

}  // namespace pibinn
