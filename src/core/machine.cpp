#include "core/machine.hpp"

#include <array>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "core/cuda_module.hpp"

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

std::string machine_text(std::string_view device) {
    const std::string name = device == "cpu" ? std::string() : cuda_device_name();
    return name.empty() ? machine_text() : fmt::format("{}, {}", machine_text(), name);
}

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

}  // namespace pibinn
