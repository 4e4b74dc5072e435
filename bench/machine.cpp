#include "bench/machine.hpp"

#include <fstream>
#include <thread>

#include <cblas.h>
#include <fmt/format.h>

namespace pibinn::bench {

std::string machine_text() {
    std::ifstream info("/proc/cpuinfo");
    std::string name = "unknown processor";
    for (std::string text; std::getline(info, text);)
        if (text.starts_with("model name")) {
            name = text.substr(text.find(':') + 2);
            break;
        }
    return fmt::format("{}, {} cores", name, std::thread::hardware_concurrency());
}

std::string blas_text() {
    return fmt::format("{} ({})", openblas_get_config(), openblas_get_corename());
}

std::string time_text(double value) {
    return fmt::format("{:.{}f}", value, value < 10 ? 2 : (value < 100 ? 1 : 0));
}

}  // namespace pibinn::bench
