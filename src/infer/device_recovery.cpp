#include "infer/device_recovery.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "algebra/polish.hpp"
#include "core/cuda_module.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::string_view kDevice = "cuda", kHalf = "cuda-half";

void require_device_network(const NetworkSpec& spec) {
    const auto refuse = [](std::string_view what) {
        fail_usage(fmt::format("a CUDA device recovers no {}", what),
                   "choose a kernel of the processor, such as auto");
    };
    if (spec.architecture != Architecture::unrolled) refuse("fully connected networks");
    if (!spec.entrywise()) refuse("networks with groups, neighbours or activation wiener");
    if (spec.centre) refuse("networks with centred residuals");
}

/// A block's links as a dense matrix, column by column.
std::vector<float> dense_block(const Block& block, std::span<const float> links) {
    std::vector<float> dense(block.rows * block.cols, 0.0F);
    for (std::size_t j = 0; j < block.cols; ++j)
        for (std::size_t l = block.column_begin(j); l < block.column_begin(j + 1); ++l) {
            const std::size_t i = block.full() ? l - block.column_begin(j) : block.row_indices[l];
            dense[j * block.rows + i] = links[block.first_link + l];
        }
    return dense;
}

DeviceNetwork device_network(const Model& model, bool half) {
    const NetworkSpec& spec = model.spec;
    const Structure& structure = model.op.structure();
    DeviceNetwork network{.layers = spec.layers,
                          .activation = spec.activation,
                          .pieces = std::max<std::size_t>(spec.thresholds_per_layer(), 1),
                          .residual_threshold = spec.update.residual_threshold,
                          .delta = static_cast<float>(spec.delta),
                          .theta = model.theta,
                          .gain = model.gain,
                          .step = model.step,
                          .beta = model.beta,
                          .omega = model.omega,
                          .polish = spec.polish,
                          .cut = spec.polish > 0 ? model.cut[0] : 0.0F,
                          .repeat = structure.repeat(),
                          .blocks = {},
                          .half = half};
    for (const Block& part : structure.parts()) {
        DeviceBlock block{.row = part.row,
                          .col = part.col,
                          .m = part.rows,
                          .n = part.cols,
                          .a = dense_block(part, model.op.values()),
                          .a_unit = 1,
                          .weights = {}};
        block.a_unit = polish_unit(block.a);
        for (std::size_t k = 1; k <= (spec.tied() ? 1 : spec.layers); ++k)
            block.weights.push_back(dense_block(part, model.layer_links(k)));
        network.blocks.push_back(std::move(block));
    }
    return network;
}

}  // namespace

bool names_device(std::string_view kernel) { return kernel == kDevice || kernel == kHalf; }

DeviceModel::DeviceModel(const Model& model, std::string_view kernel)
    : name_(kernel), layers_(model.spec.layers), entries_(model.op.cols()) {
    using Make = DeviceRecovery*(const DeviceNetwork*);
    const auto make = reinterpret_cast<Make*>(cuda_entry("pibinn_cuda_make_recovery"));
    require_device_network(model.spec);
    const DeviceNetwork network = device_network(model, kernel == kHalf);
    recovery_.reset(make(&network));
}

Batch DeviceModel::recover_coefficients(ConstBatchView y, std::vector<Batch>* every_layer) const {
    Batch x(y.rows, entries_);
    std::vector<float> layers(every_layer != nullptr ? layers_ * x.size() : 0);
    {
        const std::lock_guard lock(mutex_);
        recovery_->recover(y, x, every_layer != nullptr ? layers.data() : nullptr);
    }
    for (std::size_t k = 0; every_layer != nullptr && k < layers_; ++k) {
        Batch& layer = every_layer->emplace_back(y.rows, entries_);
        std::copy_n(layers.data() + k * x.size(), x.size(), layer.values().begin());
    }
    return x;
}

double DeviceModel::seconds_on_device(ConstBatchView y, std::size_t rows, std::size_t turns) const {
    const std::lock_guard lock(mutex_);
    return recovery_->seconds_on_device(y, rows, turns);
}

std::string DeviceModel::kernel() const { return name_ + "/" + recovery_->kernel(); }

}  // namespace pibinn
