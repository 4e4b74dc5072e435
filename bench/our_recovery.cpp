#include "bench/our_recovery.hpp"

#include <fmt/format.h>

#include "model/model_parameters.hpp"
#include "model/network.hpp"
#include "pibinn/error.hpp"

namespace pibinn::bench {

namespace {

/// Refuses a kernel before the model is made ready.
const std::string& checked(const Model& model, const std::string& kernel) {
    if (kernel != "auto" && !can_be_packed(model))
        fail_usage(
            fmt::format("a {} network of {} weights has no packed kernel '{}'",
                        to_string(model.spec.architecture), to_string(model.spec.weights), kernel),
            "leave out --kernel");
    return kernel;
}

}  // namespace

OurRecovery::OurRecovery(const Model& model, const std::string& kernel)
    : recoverer_(model, checked(model, kernel)),
      kernel_(packed() ? recoverer_.packed()->kernel() : packed_kernels().front()) {}

Batch OurRecovery::recover(ConstBatchView y, ThreadPool& pool) const {
    return recoverer_.coefficients(y, pool);
}

void OurRecovery::recover_into(ConstBatchView y, BatchView x, ThreadPool& pool) const {
    if (packed())
        recoverer_.packed()->recover_coefficients(y, x, pool);
    else
        recoverer_.coefficients(y, pool);
}

std::function<void(std::size_t)> OurRecovery::single_call(const Batch& y) const {
    struct Space {
        PackedModel::Workspace workspace;
        AlignedBuffer<float> x;
    };
    if (!packed())
        return [this, &y, one = std::make_shared<ThreadPool>(1)](std::size_t i) {
            recoverer_.coefficients(y.view().row_range(i, i + 1), *one);
        };
    const PackedModel& model = *recoverer_.packed();
    const auto space = std::make_shared<Space>(
        Space{PackedModel::Workspace(model), AlignedBuffer<float>(model.entries())});
    return [&model, &y, space](std::size_t i) {
        model.recover_coefficients(y.row(i), space->x, space->workspace);
    };
}

struct FloatRecovery::State {
    explicit State(const Model& model)
        : backend(make_cpu_backend()),
          network(make_network(model.spec, model.op, *backend)),
          parameters(parameters_of(model), *backend) {}

    std::unique_ptr<Backend> backend;
    std::unique_ptr<Network> network;
    DeviceParameters parameters;
};

FloatRecovery::FloatRecovery(const Model& model) : state_(std::make_unique<State>(model)) {}
FloatRecovery::~FloatRecovery() = default;

Batch FloatRecovery::recover(ConstBatchView y, ThreadPool& pool) {
    return state_->network->recover_coefficients(state_->parameters, y, pool);
}

std::function<void(std::size_t)> FloatRecovery::single_call(const Batch& y) {
    return [this, &y, one = std::make_shared<ThreadPool>(1)](std::size_t i) {
        recover(y.view().row_range(i, i + 1), *one);
    };
}

}  // namespace pibinn::bench
