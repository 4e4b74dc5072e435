// What the module tells of itself (src/core/cuda_module.hpp).

#include <string>

#include <cuda_runtime.h>

extern "C" {

const char* pibinn_cuda_version() { return PIBINN_VERSION; }

/// Why there is no device to use; empty where there is one.
const char* pibinn_cuda_problem() {
    static const std::string text = [] {
        int count = 0;
        const cudaError_t status = cudaGetDeviceCount(&count);
        if (status != cudaSuccess)
            return std::string("no CUDA device: ") + cudaGetErrorString(status);
        return std::string(count > 0 ? "" : "no CUDA device: the driver lists none");
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
