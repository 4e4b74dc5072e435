#pragma once

#include <vector>

#include "theory/spectral_terms.hpp"

namespace pibinn {

/// delta I - W_S^T A_S of one layer on one support.
Eigen::MatrixXd step_on_support(const BlockNetwork& network, std::size_t layer,
                                const Support& support);

/// response(k, j), j = 0 .. k (bounds.hpp), the supremum over the supports.
Responses companion_responses(const std::vector<BlockNetwork>& networks,
                              const std::vector<Support>& supports, ThreadPool& pool);

}  // namespace pibinn
