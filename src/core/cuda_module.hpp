#pragma once

#include <string>

namespace pibinn {

/// The code for CUDA devices is a module of its own, libpibinn_cuda.so, which is loaded when such a
/// device is first asked for. Library and program so need neither CUDA nor its driver.
///
/// The entry point of that name. Throws a usage error that says what is missing: the module, a
/// driver, a device.
void* cuda_entry(const char* name);

/// The first CUDA device, such as "NVIDIA H200"; empty where there is none, or no module.
std::string cuda_device_name();

}  // namespace pibinn
