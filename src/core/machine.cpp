#include "core/machine.hpp"

#include <fstream>
#include <thread>

#include <fmt/format.h>

namespace pibinn {

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

}  // namespace pibinn
