#include "bench/machine.hpp"

#include <unistd.h>

#include <cstdlib>

#include <cblas.h>
#include <fmt/format.h>

namespace pibinn::bench {

std::string blas_text() {
    return fmt::format("{} ({})", openblas_get_config(), openblas_get_corename());
}

std::string better_blas_core(const std::string& chosen, const VectorInstructions& has) {
    // What OpenBLAS calls processors of before AVX, and its choice for those it does not know.
    for (const char* old : {"Prescott", "Core2", "Nehalem", "Generic", "generic"})
        if (chosen == old) return has.avx512 ? "SkylakeX" : has.avx2 ? "Haswell" : "";
    return "";
}

void restart_with_better_blas(char** argv) {
    VectorInstructions has;
#ifdef __x86_64__
    has.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    has.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl");
#endif
    const std::string core = better_blas_core(openblas_get_corename(), has);
    if (core.empty() || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
    ::setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
    ::execv("/proc/self/exe", argv);  // where it fails, blas_text() still says what runs
}

std::string time_text(double value) {
    if (value < 0.1) return fmt::format("{:.3g}", value);  // of one signal among many on a device
    return fmt::format("{:.{}f}", value, value < 10 ? 2 : (value < 100 ? 1 : 0));
}

}  // namespace pibinn::bench
