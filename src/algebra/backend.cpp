#include "algebra/backend.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

std::unique_ptr<Backend> make_backend(std::string_view device) {
    if (device == "cpu") return make_cpu_backend();
    if (device == "cuda")
        fail_usage("this build has no CUDA device", "set TrainOptions::device = \"cpu\"");
    fail_usage(fmt::format("unknown device '{}'", device), "choose cpu or cuda");
}

}  // namespace pibinn
