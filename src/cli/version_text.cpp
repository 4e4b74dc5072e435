#include "cli/version_text.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commit.hpp"
#include "core/cuda_module.hpp"
#include "pibinn/packed_model.hpp"
#include "pibinn/version.hpp"

namespace pibinn::cli {

namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

}  // namespace

std::string version_text() {
    const std::string gpu = cuda_device_name();
    const std::string built_from = commit();
    return fmt::format("pibinn {}\n{}compiler: {}\nBLAS: {} ({})\nkernels: {}\ndevices: cpu{}\n",
                       version(), built_from.empty() ? "" : "commit: " + built_from + "\n",
                       kCompiler, openblas_get_config(), openblas_get_corename(),
                       fmt::join(packed_kernels(), ", "),
                       gpu.empty() ? "" : ", cuda (" + gpu + ")");
}

}  // namespace pibinn::cli
