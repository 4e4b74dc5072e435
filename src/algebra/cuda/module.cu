// What the module tells of itself (src/core/cuda_module.hpp).

#include <string>

#include <cuda_runtime.h>

namespace {

/// Whether the module is compiled for a device is what this one tells.
__global__ void probe_kernel() {}

/// "13.0" of 13000.
std::string version_words(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Why the driver lists no devices.
std::string driver_problem(cudaError_t status) {
    int driver = 0;
    if (status != cudaErrorInsufficientDriver || cudaDriverGetVersion(&driver) != cudaSuccess)
        return cudaGetErrorString(status);
    if (driver == 0) return "no driver is installed";
    return "the driver knows CUDA " + version_words(driver) + ", and this build needs " +
           version_words(CUDART_VERSION);
}

}  // namespace

extern "C" {

const char* pibinn_cuda_version() { return PIBINN_VERSION; }

/// Why there is no device to use; empty where there is one.
const char* pibinn_cuda_problem() {
    static const std::string text = [] {
        int count = 0;
        const cudaError_t status = cudaGetDeviceCount(&count);
        if (status != cudaSuccess) return "no CUDA device: " + driver_problem(status);
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
