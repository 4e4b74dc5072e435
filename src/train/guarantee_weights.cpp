#include "train/guarantee_weights.hpp"

#include <algorithm>

#include "model/weights/weight_rules.hpp"
#include "spectral/low_coherence.hpp"
#include "spectral/sign_search.hpp"

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// More starts gain little: 20 end within a tenth of 100.
constexpr std::size_t kSignStarts = 30;
// Of the measurements: up to here signs can meet all conditions at once.
constexpr double kFew = 0.5;
// Up to here float weights meet them exactly without growing long.
constexpr double kExact = 0.8;

bool few(const MatrixXd& A, const Disturbers& disturbers, double share) {
    return static_cast<double>(disturbers.size()) <= share * static_cast<double>(A.rows());
}

/// Signs of one layer. Few conditions are met by search, each layer in its own way so that the
/// errors of layers do not add up; of many the largest are lowered.
MatrixXd layer_signs(const MatrixXd& A, const Disturbers& disturbers, double reach,
                     std::uint64_t seed, std::size_t layer, ThreadPool& pool) {
    const bool search = few(A, disturbers, kFew);
    const MatrixXd a = A(Eigen::all, disturbers);
    const double level = reach * a.cwiseAbs().colwise().sum().mean();
    MatrixXd w(A.rows(), A.cols());
    pool.run(static_cast<std::size_t>(A.cols()), [&](std::size_t j) {
        const auto column = static_cast<Index>(j);
        VectorXd target = VectorXd::Zero(a.cols());
        const auto place = std::find(disturbers.begin(), disturbers.end(), column);
        if (place != disturbers.end()) target[place - disturbers.begin()] = level;
        if (search) {
            Stream stream(seed, Purpose::guarantee, layer * w.cols() + j);
            w.col(column) = search_signs(a, target, kSignStarts, stream);
            return;
        }
        const VectorXd own = A.col(column).unaryExpr([](double v) { return v < 0 ? -1.0 : 1.0; });
        w.col(column) = flatten_signs(a, target, own);
    });
    return w;
}

/// What a kind makes of signs whose products with their own columns are about `level`.
void scale_signs(const MatrixXd& A, const Disturbers& disturbers, const Quantiser& quantiser,
                 double level, MatrixXd& w) {
    VectorXd scale = VectorXd::Constant(w.cols(), 1 / level);
    if (quantiser.scale == Quantiser::Scale::channel)
        for (const Index j : disturbers) {
            const double product = w.col(j).dot(A.col(j));
            if (product > 0.1 * level) scale[j] = 1 / product;
        }
    w = w * scale.asDiagonal();
}

}  // namespace

std::vector<MatrixXd> guarantee_weights(const MatrixXd& A, const Disturbers& disturbers,
                                        const NetworkSpec& spec, double reach, std::uint64_t seed,
                                        ThreadPool& pool) {
    if (spec.tied())
        return std::vector<MatrixXd>(spec.layers, A / A.colwise().squaredNorm().mean());
    const WeightRules& rules = rules_of(spec.weights);
    if (!rules.quantised())
        return std::vector<MatrixXd>(spec.layers, few(A, disturbers, kExact)
                                                      ? dual_weights(A, disturbers)
                                                      : low_coherence_weights(A));
    const MatrixXd a = A(Eigen::all, disturbers);
    const double level = reach * a.cwiseAbs().colwise().sum().mean();
    std::vector<MatrixXd> layers;
    for (std::size_t k = 0; k < spec.layers; ++k) {
        // Norms alone do not gain by layers that differ.
        if (k > 0 && !few(A, disturbers, kFew)) {
            layers.push_back(layers.front());
            continue;
        }
        layers.push_back(layer_signs(A, disturbers, reach, seed, k, pool));
        scale_signs(A, disturbers, rules.quantiser, level, layers.back());
    }
    return layers;
}

}  // namespace pibinn
