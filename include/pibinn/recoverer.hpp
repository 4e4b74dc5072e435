// room: infer
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "pibinn/model.hpp"
#include "pibinn/packed_model.hpp"

namespace pibinn {

/// A model ready to recover by the best there is: packed where it can be, else the floating-point
/// network. Immutable: any number of threads may recover with one at a time.
class Recoverer {
public:
    /// `kernel` is for packed models alone; floats are kept by their network, signs are not.
    explicit Recoverer(const Model& model, std::string_view kernel = "auto");

    /// The packed model, or null where the floating-point network recovers.
    const PackedModel* packed() const { return packed_ ? &*packed_ : nullptr; }

    /// x_K of every row of y; with `every_layer`, x_1 .. x_K too.
    Batch recover(ConstBatchView y, ThreadPool& pool,
                  std::vector<Batch>* every_layer = nullptr) const;

private:
    std::optional<PackedModel> packed_;
    std::optional<Model> floats_;
};

}  // namespace pibinn
