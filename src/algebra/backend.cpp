#include "algebra/backend.hpp"

#include <array>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

std::unique_ptr<Backend> make_backend(std::string_view device) {
    static constexpr std::array<std::string_view, 2> names{"cpu", "cuda"};
    if (device == "cpu") return make_cpu_backend();
    if (device == "cuda")
        fail_usage("this build has no CUDA device", "set TrainOptions::device = \"cpu\"");
    fail_usage(fmt::format("unknown device '{}'", device), hint_for_unknown(device, names));
}

}  // namespace pibinn
