#include "spectral/spectral_terms.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "spectral/coherence.hpp"
#include "spectral/spectral_norm.hpp"
#include "spectral/step_matrix.hpp"

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

Grams grams_of(const BlockNetwork& network, std::size_t k) {
    Grams g;
    g.wa = network.W[k].transpose() * network.A;
    g.ww = network.W[k].transpose() * network.W[k];
    g.mu = coherence(g.wa).mu;
    for (Index i = 0; i < g.wa.rows(); ++i)
        g.diagonal_gap = std::max(g.diagonal_gap, std::abs(g.wa(i, i) - 1));
    g.column = std::sqrt(g.ww.diagonal().maxCoeff());
    return g;
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
        terms.leak_row = std::max(terms.leak_row, row.lpNorm<1>());
        terms.leak_entry = std::max(terms.leak_entry, row.lpNorm<Eigen::Infinity>());
        if (cholesky) {
            cholesky->triangularView<Eigen::Lower>().solveInPlace(row);
            terms.projected_leak = std::max(terms.projected_leak, row.norm());
        }
    }
}

/// Bounds W_i^T A_S in three norms for all i and all S of up to s entries without i.
void measure_any_support(const Rows& wa, std::size_t s, LayerTerms& terms) {
    std::vector<double> sizes;
    for (Index i = 0; i < wa.rows(); ++i) {
        sizes.clear();
        for (Index j = 0; j < wa.cols(); ++j)
            if (j != i) sizes.push_back(std::abs(wa(i, j)));
        const auto end = sizes.begin() + static_cast<std::ptrdiff_t>(std::min(s, sizes.size()));
        std::partial_sort(sizes.begin(), end, sizes.end(), std::greater<>());
        const double sum = std::accumulate(sizes.begin(), end, 0.0);
        const double squares = std::inner_product(sizes.begin(), end, sizes.begin(), 0.0);
        terms.leak = std::max(terms.leak, std::sqrt(squares));
        terms.leak_row = std::max(terms.leak_row, sum);
        if (!sizes.empty()) terms.leak_entry = std::max(terms.leak_entry, sizes.front());
    }
}

/// Nothing is known yet, and a supremum begins at 0.
LayerTerms measured_terms() {
    LayerTerms terms;
    terms.f_row = terms.f_column = terms.leak_row = terms.leak_entry = 0;
    return terms;
}

void take_scalars(const BlockNetwork& network, std::size_t k, LayerTerms& layer) {
    const Shrink shrink = network.shrink(k);
    layer.theta = dead_zone(shrink);
    layer.thresholds = shrink.thresholds;
    layer.gains = shrink.gains;
    layer.beta = network.beta[k];
    layer.omega = network.omega[k];
}

}  // namespace

MatrixXd step_on_support(const BlockNetwork& network, std::size_t layer, const Support& support) {
    const MatrixXd w = network.W[layer](Eigen::all, support.entries);
    return step_matrix(w.transpose() * network.A(Eigen::all, support.entries), network.spec.delta);
}

SpectralTerms spectral_terms(const std::vector<BlockNetwork>& networks,
                             const std::vector<Support>& supports, ThreadPool& pool) {
    const NetworkSpec& spec = networks.front().spec;
    SpectralTerms out;
    out.layers.assign(spec.layers, measured_terms());
    out.worst.resize(spec.layers);

    std::vector<MatrixXd> gram;  // A^T A, block by block
    for (const BlockNetwork& network : networks) gram.push_back(network.A.transpose() * network.A);
    std::vector<double> least(supports.size()), most(supports.size());
    std::vector<MatrixXd> cholesky(spec.update.residual_threshold ? supports.size() : 0);
    pool.run(supports.size(), [&](std::size_t i) {
        const MatrixXd q = submatrix(gram[supports[i].block], supports[i].entries);
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
        for (const BlockNetwork& network : networks) grams.push_back(grams_of(network, k));
        pool.run_chunks(supports.size(), kSupportsPerTask,
                        [&](std::size_t, std::size_t begin, std::size_t end) {
                            for (std::size_t i = begin; i < end; ++i) {
                                const Support& support = supports[i];
                                const Grams& g = grams[support.block];
                                LayerTerms& t = terms[i] = measured_terms();
                                const MatrixXd step =
                                    step_matrix(submatrix(g.wa, support.entries), spec.delta);
                                t.f = spectral_norm(step);
                                t.f_row = step.cwiseAbs().rowwise().sum().maxCoeff();
                                t.f_column = step.cwiseAbs().colwise().sum().maxCoeff();
                                t.weight = std::sqrt(std::max(
                                    0.0, largest_eigenvalue(submatrix(g.ww, support.entries))));
                                const bool based = !cholesky.empty() && cholesky[i].size() > 0;
                                if (!cholesky.empty() && !based) t.projected_leak = g.column;
                                measure_outside(g, support, based ? &cholesky[i] : nullptr, t);
                            }
                        });
        LayerTerms& layer = out.layers[k];
        for (std::size_t i = 0; i < supports.size(); ++i) {
            if (terms[i].f > layer.f) out.worst[k] = i;
            layer.f = std::max(layer.f, terms[i].f);
            layer.f_row = std::max(layer.f_row, terms[i].f_row);
            layer.f_column = std::max(layer.f_column, terms[i].f_column);
            layer.leak = std::max(layer.leak, terms[i].leak);
            layer.leak_row = std::max(layer.leak_row, terms[i].leak_row);
            layer.leak_entry = std::max(layer.leak_entry, terms[i].leak_entry);
            layer.projected_leak = std::max(layer.projected_leak, terms[i].projected_leak);
            layer.weight = std::max(layer.weight, terms[i].weight);
        }
        for (const Grams& g : grams) {
            layer.mu = std::max(layer.mu, g.mu);
            layer.column = std::max(layer.column, g.column);
            out.diagonal_gap = std::max(out.diagonal_gap, g.diagonal_gap);
        }
        take_scalars(networks.front(), k, layer);
    }
    return out;
}

SpectralTerms terms_of_all_supports(const std::vector<BlockNetwork>& networks, std::size_t s) {
    const NetworkSpec& spec = networks.front().spec;
    SpectralTerms out;
    out.layers.assign(spec.layers, measured_terms());
    for (const BlockNetwork& network : networks) {
        const bool outside = s < network.n();
        out.outside |= outside;
        out.operator_norm =
            std::max(out.operator_norm,
                     std::sqrt(norm_of_any_submatrix(network.A.transpose() * network.A, s)));
        LayerTerms own;
        for (std::size_t k = 0; k < out.layers.size(); ++k) {
            // Layers of the same weights have the same terms.
            if (k == 0 || network.W[k] != network.W[k - 1]) {
                const Grams g = grams_of(network, k);
                const MatrixXd step = step_matrix(g.wa, spec.delta);
                own = measured_terms();
                own.f = norm_of_any_submatrix(step, s);
                own.f_row = row_sum_of_any_submatrix(step, s);
                own.f_column = row_sum_of_any_submatrix(step.transpose(), s);
                own.mu = g.mu;
                own.weight = std::sqrt(norm_of_any_submatrix(g.ww, s));
                own.column = g.column;
                if (outside) {
                    measure_any_support(g.wa, s, own);
                    own.projected_leak = g.column;  // a projection shortens
                }
                out.diagonal_gap = std::max(out.diagonal_gap, g.diagonal_gap);
            }
            LayerTerms& layer = out.layers[k];
            for (double LayerTerms::*term :
                 {&LayerTerms::f, &LayerTerms::f_row, &LayerTerms::f_column, &LayerTerms::mu,
                  &LayerTerms::weight, &LayerTerms::column, &LayerTerms::leak,
                  &LayerTerms::leak_row, &LayerTerms::leak_entry, &LayerTerms::projected_leak})
                layer.*term = std::max(layer.*term, own.*term);
            take_scalars(network, k, layer);
        }
    }
    return out;
}

}  // namespace pibinn
