#include "theory/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr std::size_t kSupportsPerTask = 64;

/// Products of all columns of a block, from which those of every support are picked.
struct Grams {
    Rows wa;      ///< W_i^T A_j
    MatrixXd ww;  ///< W_i^T W_j
    double mu = 0;
    double column = 0;
    double diagonal_gap = 0;
};

Grams grams_of(const PartNetwork& network, std::size_t k) {
    Grams g;
    g.wa = network.W[k].transpose() * network.A;
    g.ww = network.W[k].transpose() * network.W[k];
    for (Index i = 0; i < g.wa.rows(); ++i) {
        for (Index j = 0; j < g.wa.cols(); ++j)
            if (i != j) g.mu = std::max(g.mu, std::abs(g.wa(i, j)));
        g.diagonal_gap = std::max(g.diagonal_gap, std::abs(g.wa(i, i) - 1));
    }
    g.column = std::sqrt(g.ww.diagonal().maxCoeff());
    return g;
}

template <class Matrix>
MatrixXd pick(const Matrix& from, const std::vector<std::uint32_t>& entries) {
    const auto s = static_cast<Index>(entries.size());
    MatrixXd out(s, s);
    for (Index j = 0; j < s; ++j)
        for (Index i = 0; i < s; ++i)
            out(i, j) =
                from(entries[static_cast<std::size_t>(i)], entries[static_cast<std::size_t>(j)]);
    return out;
}

double largest_eigenvalue(const MatrixXd& symmetric) {
    return Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric, Eigen::EigenvaluesOnly)
        .eigenvalues()
        .maxCoeff();
}

/// Max over i outside S of ||W_i^T A_S|| and of ||W_i^T U||: with A_S^T A_S = L L^T the latter is
/// the norm of L^{-1} A_S^T W_i.
void measure_outside(const Grams& g, const Support& support, const MatrixXd* cholesky,
                     LayerTerms& terms) {
    const auto s = static_cast<Index>(support.entries.size());
    Eigen::VectorXd row(s);
    auto next = support.entries.begin();
    for (Index i = 0; i < g.wa.rows(); ++i) {
        if (next != support.entries.end() && static_cast<Index>(*next) == i) {
            ++next;
            continue;
        }
        for (Index j = 0; j < s; ++j)
            row[j] = g.wa(i, support.entries[static_cast<std::size_t>(j)]);
        terms.leak = std::max(terms.leak, row.norm());
        if (cholesky) {
            cholesky->triangularView<Eigen::Lower>().solveInPlace(row);
            terms.shadow = std::max(terms.shadow, row.norm());
        }
    }
}

/// The largest |entries| of row i of M beside the diagonal, that one included, summed.
template <class Sum>
double largest_sum(const MatrixXd& m, Index i, std::size_t s, const Sum& value) {
    std::vector<double> others;
    for (Index j = 0; j < m.cols(); ++j)
        if (j != i) others.push_back(value(m(i, j)));
    const std::size_t taken = std::min(s - 1, others.size());
    std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(taken),
                     others.end(), std::greater<>());
    return value(m(i, i)) + std::accumulate(others.begin(),
                                            others.begin() + static_cast<std::ptrdiff_t>(taken),
                                            0.0);
}

/// Bounds the norm of every s x s principal part of m.
double norm_of_any_part(const MatrixXd& m, std::size_t s) {
    const auto absolute = [](double v) { return std::abs(v); };
    const auto square = [](double v) { return v * v; };
    const MatrixXd turned = m.transpose();
    double row_sum = 0, column_sum = 0;
    std::vector<double> squares;
    for (Index i = 0; i < m.rows(); ++i) {
        row_sum = std::max(row_sum, largest_sum(m, i, s, absolute));
        column_sum = std::max(column_sum, largest_sum(turned, i, s, absolute));
        squares.push_back(largest_sum(m, i, s, square));
    }
    std::sort(squares.begin(), squares.end(), std::greater<>());
    squares.resize(std::min(s, squares.size()));
    const double frobenius = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
    return std::min({std::sqrt(row_sum * column_sum), frobenius, spectral_norm(m)});
}

/// Bounds ||W_i^T A_S|| for all i and all S of up to s entries without i.
double leak_of_any_support(const Rows& wa, std::size_t s) {
    double most = 0;
    for (Index i = 0; i < wa.rows(); ++i) {
        std::vector<double> squares;
        for (Index j = 0; j < wa.cols(); ++j)
            if (j != i) squares.push_back(wa(i, j) * wa(i, j));
        std::sort(squares.begin(), squares.end(), std::greater<>());
        squares.resize(std::min(s, squares.size()));
        most = std::max(most, std::accumulate(squares.begin(), squares.end(), 0.0));
    }
    return std::sqrt(most);
}

MatrixXd step_of(const PartNetwork& network, std::size_t k) {
    MatrixXd m = -network.W[k].transpose() * network.A;
    m.diagonal().array() += network.spec.delta;
    return m;
}

}  // namespace

double spectral_norm(const Eigen::Ref<const MatrixXd>& matrix) {
    if (matrix.size() == 0) return 0;
    // The largest eigenvalue of M^T M is exact to rounding, and so is its root.
    const MatrixXd square = matrix.transpose() * matrix;
    return std::sqrt(std::max(0.0, largest_eigenvalue(square)));
}

MatrixXd step_matrix(const PartNetwork& network, std::size_t layer, const Support& support) {
    const auto s = static_cast<Index>(support.entries.size());
    MatrixXd m(s, s);
    for (Index i = 0; i < s; ++i)
        for (Index j = 0; j < s; ++j)
            m(i, j) = (i == j ? network.spec.delta : 0.0) -
                      network.W[layer]
                          .col(support.entries[static_cast<std::size_t>(i)])
                          .dot(network.A.col(support.entries[static_cast<std::size_t>(j)]));
    return m;
}

SpectralTerms spectral_terms(const std::vector<PartNetwork>& networks,
                             const std::vector<Support>& supports, ThreadPool& pool) {
    const NetworkSpec& spec = networks.front().spec;
    SpectralTerms out;
    out.layers.resize(spec.layers);
    out.worst.resize(spec.layers);

    std::vector<MatrixXd> gram;  // A^T A, block by block
    for (const PartNetwork& network : networks) gram.push_back(network.A.transpose() * network.A);
    std::vector<double> least(supports.size()), most(supports.size());
    std::vector<MatrixXd> cholesky(spec.update.residual_threshold ? supports.size() : 0);
    pool.run(supports.size(), [&](std::size_t i) {
        const MatrixXd q = pick(gram[supports[i].block], supports[i].entries);
        const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(q, Eigen::EigenvaluesOnly);
        least[i] = std::max(0.0, eigen.eigenvalues().minCoeff());
        most[i] = eigen.eigenvalues().maxCoeff();
        // A support whose columns are all but dependent has no usable basis; none is kept.
        if (!cholesky.empty() && least[i] > 1e-12 * most[i]) cholesky[i] = q.llt().matrixL();
    });
    out.L = *std::max_element(most.begin(), most.end());
    out.r = *std::min_element(least.begin(), least.end());
    out.operator_norm = std::sqrt(out.L);
    for (const Support& support : supports)
        out.outside |= support.entries.size() < networks[support.block].n();

    std::vector<LayerTerms> terms(supports.size());
    for (std::size_t k = 0; k < spec.layers; ++k) {
        std::vector<Grams> grams;
        for (const PartNetwork& network : networks) grams.push_back(grams_of(network, k));
        pool.run_chunks(supports.size(), kSupportsPerTask,
                        [&](std::size_t, std::size_t begin, std::size_t end) {
                            for (std::size_t i = begin; i < end; ++i) {
                                const Support& support = supports[i];
                                const Grams& g = grams[support.block];
                                LayerTerms& t = terms[i] = {};
                                MatrixXd step = -pick(g.wa, support.entries);
                                step.diagonal().array() += spec.delta;
                                t.f = spectral_norm(step);
                                t.weight = std::sqrt(
                                    std::max(0.0, largest_eigenvalue(pick(g.ww, support.entries))));
                                const bool based = !cholesky.empty() && cholesky[i].size() > 0;
                                if (!cholesky.empty() && !based) t.shadow = g.column;
                                measure_outside(g, support, based ? &cholesky[i] : nullptr, t);
                            }
                        });
        LayerTerms& layer = out.layers[k];
        for (std::size_t i = 0; i < supports.size(); ++i) {
            if (terms[i].f > layer.f) out.worst[k] = i;
            layer.f = std::max(layer.f, terms[i].f);
            layer.leak = std::max(layer.leak, terms[i].leak);
            layer.shadow = std::max(layer.shadow, terms[i].shadow);
            layer.weight = std::max(layer.weight, terms[i].weight);
        }
        for (const Grams& g : grams) {
            layer.mu = std::max(layer.mu, g.mu);
            layer.column = std::max(layer.column, g.column);
            out.diagonal_gap = std::max(out.diagonal_gap, g.diagonal_gap);
        }
        const PartNetwork& any = networks.front();
        layer.theta = any.theta[k];
        layer.beta = any.beta[k];
        layer.omega = any.omega[k];
    }
    return out;
}

SpectralTerms terms_of_all_supports(const std::vector<PartNetwork>& networks, std::size_t s) {
    SpectralTerms out;
    out.layers.resize(networks.front().spec.layers);
    for (const PartNetwork& network : networks) {
        const bool outside = s < network.n();
        out.outside |= outside;
        out.operator_norm = std::max(
            out.operator_norm, std::sqrt(norm_of_any_part(network.A.transpose() * network.A, s)));
        for (std::size_t k = 0; k < out.layers.size(); ++k) {
            const Grams g = grams_of(network, k);
            LayerTerms& layer = out.layers[k];
            layer.f = std::max(layer.f, norm_of_any_part(step_of(network, k), s));
            layer.mu = std::max(layer.mu, g.mu);
            layer.weight = std::max(layer.weight, std::sqrt(norm_of_any_part(g.ww, s)));
            layer.column = std::max(layer.column, g.column);
            out.diagonal_gap = std::max(out.diagonal_gap, g.diagonal_gap);
            layer.theta = network.theta[k];
            layer.beta = network.beta[k];
            layer.omega = network.omega[k];
            if (!outside) continue;
            layer.leak = std::max(layer.leak, leak_of_any_support(g.wa, s));
            layer.shadow = std::max(layer.shadow, g.column);  // a projection shortens
        }
    }
    return out;
}

Responses companion_responses(const std::vector<PartNetwork>& networks,
                              const std::vector<Support>& supports, ThreadPool& pool) {
    const std::size_t K = networks.front().spec.layers;
    std::vector<Responses> partial((supports.size() + kSupportsPerTask - 1) / kSupportsPerTask);
    pool.run_chunks(supports.size(), kSupportsPerTask,
                    [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                        Responses& most = partial[chunk] = Responses(K + 1, K + 1);
                        for (std::size_t i = begin; i < end; ++i) {
                            const PartNetwork& network = networks[supports[i].block];
                            const auto s = static_cast<Index>(supports[i].entries.size());
                            std::vector<MatrixXd> steps;
                            for (std::size_t k = 0; k < K; ++k)
                                steps.push_back(step_matrix(network, k, supports[i]));
                            for (std::size_t j = 0; j <= K; ++j) {
                                // (e_k, e_{k-1}) = C_k (e_{k-1}, e_{k-2}): e_j is one, e_{j-1}
                                // nothing, but both are the same before the first layer.
                                MatrixXd now = MatrixXd::Identity(s, s);
                                MatrixXd before = j == 0 ? now : MatrixXd::Zero(s, s);
                                most(j, j) = 1;
                                for (std::size_t k = j + 1; k <= K; ++k) {
                                    const double beta = network.beta[k - 1];
                                    MatrixXd next =
                                        steps[k - 1] * ((1 + beta) * now - beta * before);
                                    before = std::move(now);
                                    now = std::move(next);
                                    most(k, j) = std::max(most(k, j), spectral_norm(now));
                                }
                            }
                        }
                    });
    Responses all(K + 1, K + 1);
    for (const Responses& part : partial)
        for (std::size_t i = 0; i < all.size(); ++i)
            all.data()[i] = std::max(all.data()[i], part.data()[i]);
    return all;
}

}  // namespace pibinn
