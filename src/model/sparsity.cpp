#include "pibinn/sparsity.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

double sparsity(const Model& model) {
    std::size_t zeros = 0, all = 0;
    for (const auto& layer : model.weights) {
        zeros += static_cast<std::size_t>(std::count(layer.begin(), layer.end(), 0.0F));
        all += layer.size();
    }
    return all > 0 ? static_cast<double>(zeros) / static_cast<double>(all) : 0;
}

std::optional<double> overlap(const Model& model, const Structure& physics) {
    const Structure& own = model.op.structure();
    if (model.spec.architecture != Architecture::unrolled || own.kind() != StructureKind::dense)
        fail_usage(fmt::format("overlap of an {} model of structure {}",
                               to_string(model.spec.architecture), to_string(own.kind())),
                   "only an unrolled dense model has links off the physics");
    if (own.rows() != physics.rows() || own.cols() != physics.cols())
        fail_usage(fmt::format("the model is {} x {}, the structure {} x {}", own.rows(),
                               own.cols(), physics.rows(), physics.cols()),
                   "give the structure of the model's own operator");
    // A dense matrix has its links column by column.
    std::vector<bool> allowed(own.links(), false);
    physics.for_each_link([&](std::size_t row, std::size_t col, std::size_t) {
        allowed[col * own.rows() + row] = true;
    });
    std::size_t off = 0;
    std::size_t zeros = 0;
    for (const auto& layer : model.weights)
        for (std::size_t l = 0; l < layer.size(); ++l) {
            if (allowed[l]) continue;
            ++off;
            zeros += layer[l] == 0.0F;
        }
    if (off == 0) return std::nullopt;
    return static_cast<double>(zeros) / static_cast<double>(off);
}

}  // namespace pibinn
