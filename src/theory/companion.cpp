#include "theory/companion.hpp"

#include <algorithm>

#include "spectral/spectral_norm.hpp"
#include "spectral/step_matrix.hpp"

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr std::size_t kCompanionsPerTask = 64;

}  // namespace

MatrixXd step_on_support(const BlockNetwork& network, std::size_t layer, const Support& support) {
    const auto s = static_cast<Index>(support.entries.size());
    MatrixXd gram(s, s);
    for (Index i = 0; i < s; ++i)
        for (Index j = 0; j < s; ++j)
            gram(i, j) = network.W[layer]
                             .col(support.entries[static_cast<std::size_t>(i)])
                             .dot(network.A.col(support.entries[static_cast<std::size_t>(j)]));
    return step_matrix(gram, network.spec.delta);
}

Responses companion_responses(const std::vector<BlockNetwork>& networks,
                              const std::vector<Support>& supports, ThreadPool& pool) {
    const std::size_t K = networks.front().spec.layers;
    std::vector<Responses> partial((supports.size() + kCompanionsPerTask - 1) / kCompanionsPerTask);
    pool.run_chunks(supports.size(), kCompanionsPerTask,
                    [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                        Responses& most = partial[chunk] = Responses(K + 1, K + 1);
                        for (std::size_t i = begin; i < end; ++i) {
                            const BlockNetwork& network = networks[supports[i].block];
                            const auto s = static_cast<Index>(supports[i].entries.size());
                            std::vector<MatrixXd> steps;
                            for (std::size_t k = 0; k < K; ++k)
                                steps.push_back(step_on_support(network, k, supports[i]));
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
