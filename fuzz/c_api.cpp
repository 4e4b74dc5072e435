// A model file and a signal that it recovers, through the interface for C.
#include <cstring>
#include <vector>

#include "harness.hpp"
#include "pibinn/c_api.h"
#include "safetensors_mutator.hpp"

using namespace pibinn;

namespace {

// A model of longer signals is loaded, but not asked to recover one.
constexpr std::size_t kMostNumbers = std::size_t{1} << 20;

/// A status that a hostile file may cause.
void require_status(pibinn_status status) {
    if (status == PIBINN_OK || status == PIBINN_USAGE_ERROR || status == PIBINN_INPUT_ERROR) return;
    fuzz::report("a status of the wrong kind", pibinn_last_error());
}

/// One signal, from measurements that are the last bytes of the file.
void recover(const pibinn_model* model, const std::uint8_t* data, std::size_t size) {
    const std::size_t m = pibinn_measurements(model), n = pibinn_entries(model);
    if (m > kMostNumbers || n > kMostNumbers) return;
    std::vector<float> y(m, 1), x(n), again(n);
    const std::size_t part = std::min(size, m * sizeof(float));
    if (part > 0) std::memcpy(y.data(), data + size - part, part);
    const pibinn_status status = pibinn_recover(model, y.data(), 1, x.data());
    require_status(status);
    pibinn_workspace* workspace = nullptr;
    require_status(pibinn_workspace_new(model, &workspace));
    require_status(pibinn_recover_in(model, workspace, y.data(), 1, again.data()));
    pibinn_workspace_free(workspace);
    if (status != PIBINN_OK) return;
    fuzz::require(fuzz::finite(x), "a recovered signal is finite");
    fuzz::require(x == again, "a workspace changes nothing");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::survive([&] {
        pibinn_model* model = nullptr;
        const pibinn_status status = pibinn_load(fuzz::as_file(data, size).c_str(), &model);
        require_status(status);
        fuzz::require((status == PIBINN_OK) == (model != nullptr), "a model or an error");
        if (status != PIBINN_OK) fail_input(pibinn_last_error());
        recover(model, data, size);
        pibinn_free(model);
    });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_safetensors);
}
