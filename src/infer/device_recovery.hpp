#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "infer/device_network.hpp"
#include "pibinn/model.hpp"

namespace pibinn {

/// Whether a kernel's name means a device: `cuda`, or `cuda-half`, whose products round activations
/// to float16.
bool names_device(std::string_view kernel);

/// A model on a CUDA device. Any number of threads may use it; they take turns.
class DeviceModel {
public:
    /// A usage error where there is no device, or for networks that it does not run.
    DeviceModel(const Model& model, std::string_view kernel);

    Batch recover_coefficients(ConstBatchView y, std::vector<Batch>* every_layer = nullptr) const;
    /// As DeviceRecovery says.
    double seconds_on_device(ConstBatchView y, std::size_t rows, std::size_t turns) const;
    std::string kernel() const;  ///< cuda/resident, for example

private:
    std::string name_;
    std::size_t layers_, entries_;
    std::unique_ptr<DeviceRecovery> recovery_;
    mutable std::mutex mutex_;
};

}  // namespace pibinn
