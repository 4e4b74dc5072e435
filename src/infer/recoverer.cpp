#include "pibinn/recoverer.hpp"

namespace pibinn {

Recoverer::Recoverer(const Model& model, std::string_view kernel) {
    if (can_be_packed(model.spec))
        packed_.emplace(model, kernel);
    else
        floats_ = model;
}

Batch Recoverer::recover(ConstBatchView y, ThreadPool& pool,
                         std::vector<Batch>* every_layer) const {
    return packed_ ? packed_->recover(y, pool, every_layer)
                   : pibinn::recover(*floats_, y, pool, every_layer);
}

}  // namespace pibinn
