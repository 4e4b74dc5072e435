#pragma once

#include <string>
#include <string_view>

namespace pibinn {

/// The processor by the name it gives itself, and its cores: "Intel(R) Xeon(R) CPU, 2 cores".
std::string machine_text();
/// The same and, where that is another than the processor, the device of that name: "..., 16 cores,
/// NVIDIA H200".
std::string machine_text(std::string_view device);
std::string host_name();

}  // namespace pibinn
