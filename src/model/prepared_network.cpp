#include "model/prepared_network.hpp"

#include "model/model_parameters.hpp"

namespace pibinn {

PreparedNetwork::PreparedNetwork(const Model& model)
    : spec_(model.spec),
      op_(model.op),
      backend_(make_cpu_backend()),
      parameters_(parameters_of(model), *backend_) {}

PreparedNetwork::~PreparedNetwork() = default;

std::unique_ptr<Network> PreparedNetwork::take() const {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            std::unique_ptr<Network> network = std::move(idle_.back());
            idle_.pop_back();
            return network;
        }
    }
    return make_network(spec_, op_, *backend_, PassUse::recovery);
}

Batch PreparedNetwork::recover_coefficients(ConstBatchView y, ThreadPool& pool,
                                            std::vector<Batch>* every_layer) const {
    std::unique_ptr<Network> network = take();
    Batch x = network->recover_coefficients(parameters_, y, pool, every_layer);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(network));
    return x;
}

}  // namespace pibinn
