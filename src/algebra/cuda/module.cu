// What the module tells of itself (src/core/cuda_module.hpp).

#include <string>

#include <cuda_runtime.h>

namespace {

/// Whether the module is compiled for a device is what this one tells.
__global__ void probe_kernel() {}

}  // namespace

extern "C" {

const char* pibinn_cuda_version() { return PIBINN_VERSION; }

/// Why there is no device to use; empty where there is one.
const char* pibinn_cuda_problem() {
    static const std::string text = [] {
        int count = 0;
        const cudaError_t status = cudaGetDeviceCount(&count);
        if (status != cudaSuccess)
            return std::string("no CUDA device: ") + cudaGetErrorString(status);
        if (count == 0) return std::string("no CUDA device: the driver lists none");
        cudaFuncAttributes attributes;
        if (cudaFuncGetAttributes(&attributes, probe_kernel) == cudaSuccess) return std::string();
        cudaGetLastError();
        cudaDeviceProp device;
        if (cudaGetDeviceProperties(&device, 0) != cudaSuccess)
            return std::string("no CUDA device that answers");
        return std::string("no CUDA device that this build is compiled for: ") + device.name +
               " has compute capability " + std::to_string(device.major) + "." +
               std::to_string(device.minor);
    }();
    return text.c_str();
}

const char* pibinn_cuda_device() {
    static const std::string name = [] {
        cudaDeviceProp properties;
        if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return std::string();
        return std::string(properties.name);
    }();
    return name.c_str();
}

}  // extern "C"
