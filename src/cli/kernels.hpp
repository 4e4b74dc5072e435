#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pibinn::cli {

/// The instruction sets this processor and this build have kernels for, best first.
std::vector<std::string> kernel_names();

/// Lets the floating-point kernels of the process run on one instruction set, or on the best with
/// "auto". Returns the name of the one that will run. Packed models choose theirs by themselves.
std::string use_kernel(std::string_view name);

}  // namespace pibinn::cli
