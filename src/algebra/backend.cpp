#include "algebra/backend.hpp"

#include <fmt/format.h>

#include "core/cuda_module.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

std::unique_ptr<Backend> make_backend(std::string_view device) {
    if (device == "cpu") return make_cpu_backend();
    // The module's own function: Backend* (bool tf32).
    using Make = Backend*(bool);
    if (device == "cuda" || device == "cuda-tf32")
        return std::unique_ptr<Backend>(
            reinterpret_cast<Make*>(cuda_entry("pibinn_cuda_make_backend"))(device == "cuda-tf32"));
    fail_usage(fmt::format("unknown device '{}'", device), "choose cpu, cuda or cuda-tf32");
}

}  // namespace pibinn
