#pragma once

#include <string>

namespace pibinn {

/// The processor by the name it gives itself, and its cores: "Intel(R) Xeon(R) CPU, 2 cores".
std::string machine_text();
std::string host_name();

}  // namespace pibinn
