#include "pibinn/c_api.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/version.hpp"

using pibinn::BatchView;
using pibinn::ConstBatchView;

namespace {

/// Models are told apart by a number: an address may be another model's once the first is freed.
std::uint64_t next_number() {
    static std::atomic<std::uint64_t> numbers = 0;
    return ++numbers;
}

}  // namespace

struct pibinn_model {
    explicit pibinn_model(const pibinn::Model& model) : number(next_number()), recoverer(model) {}

    std::uint64_t number;
    pibinn::Recoverer recoverer;
};

struct pibinn_workspace {
    explicit pibinn_workspace(const pibinn_model& owner) : model_number(owner.number) {
        if (owner.recoverer.packed() != nullptr) packed.emplace(*owner.recoverer.packed());
    }

    std::uint64_t model_number;
    std::optional<pibinn::PackedModel::Workspace> packed;
};

namespace {

// Not a string, since telling that memory ran out must not need any.
thread_local std::array<char, 1024> last_error{};

pibinn_status note(pibinn_status status, std::string_view text) noexcept {
    const std::size_t length = std::min(text.size(), last_error.size() - 1);
    std::memcpy(last_error.data(), text.data(), length);
    last_error[length] = '\0';
    return status;
}

pibinn_status status_of(pibinn::ErrorKind kind) noexcept {
    switch (kind) {
        case pibinn::ErrorKind::usage:
            return PIBINN_USAGE_ERROR;
        case pibinn::ErrorKind::input:
            return PIBINN_INPUT_ERROR;
        case pibinn::ErrorKind::io:
            return PIBINN_IO_ERROR;
        case pibinn::ErrorKind::failed:
            return PIBINN_FAILED;
        case pibinn::ErrorKind::internal:
            break;
    }
    return PIBINN_INTERNAL_ERROR;
}

/// Runs `work` so that whatever it throws stays on this side of the border.
template <class Work>
pibinn_status guarded(Work&& work) noexcept {
    constexpr std::string_view no_memory = "not enough memory; make the model or the batch smaller";
    try {
        work();
        return PIBINN_OK;
    } catch (const pibinn::Error& error) {
        return note(status_of(error.kind()), error.what());
    } catch (const std::filesystem::filesystem_error& error) {
        return note(PIBINN_IO_ERROR, error.what());
    } catch (const std::bad_alloc&) {
        return note(PIBINN_FAILED, no_memory);
    } catch (const std::length_error&) {
        return note(PIBINN_FAILED, no_memory);
    } catch (const std::exception& error) {
        return note(PIBINN_INTERNAL_ERROR, error.what());
    } catch (...) {
        return note(PIBINN_INTERNAL_ERROR, "an unknown exception; please report this as a bug");
    }
}

void require(const void* pointer, const char* name) {
    if (pointer == nullptr)
        pibinn::fail_usage(fmt::format("{} is NULL", name), "give a pointer to something");
}

void recover(const pibinn_model& model, pibinn_workspace& workspace, const float* y_rows,
             std::size_t rows, float* x_rows) {
    if (rows == 0) return;
    require(y_rows, "y");
    require(x_rows, "x");
    const pibinn::Recoverer& recoverer = model.recoverer;
    const ConstBatchView y(y_rows, rows, recoverer.measurements());
    const BatchView x(x_rows, rows, recoverer.entries());
    if (workspace.packed && recoverer.domain().plain()) {
        pibinn::require_numbers(y);
        recoverer.packed()->recover_coefficients(y, x, *workspace.packed);
        pibinn::require_recovered(x);
        return;
    }
    const pibinn::Batch found = recoverer(y);
    std::copy_n(found.data(), found.size(), x.data);
}

}  // namespace

const char* pibinn_version(void) { return pibinn::version().data(); }  // of a literal

const char* pibinn_last_error(void) { return last_error.data(); }

pibinn_status pibinn_load(const char* path, pibinn_model** model) {
    if (model != nullptr) *model = nullptr;
    return guarded([&] {
        require(path, "path");
        require(model, "model");
        *model = new pibinn_model(pibinn::Model::load(path));
    });
}

void pibinn_free(pibinn_model* model) { delete model; }

size_t pibinn_measurements(const pibinn_model* model) {
    return model == nullptr ? 0 : model->recoverer.measurements();
}

size_t pibinn_entries(const pibinn_model* model) {
    return model == nullptr ? 0 : model->recoverer.entries();
}

pibinn_status pibinn_recover(const pibinn_model* model, const float* y, size_t rows, float* x) {
    return guarded([&] {
        require(model, "model");
        pibinn_workspace workspace(*model);
        recover(*model, workspace, y, rows, x);
    });
}

pibinn_status pibinn_recover_in(const pibinn_model* model, pibinn_workspace* workspace,
                                const float* y, size_t rows, float* x) {
    return guarded([&] {
        require(model, "model");
        require(workspace, "workspace");
        if (workspace->model_number != model->number)
            pibinn::fail_usage("the workspace is that of another model",
                               "make one with pibinn_workspace_new");
        recover(*model, *workspace, y, rows, x);
    });
}

pibinn_status pibinn_workspace_new(const pibinn_model* model, pibinn_workspace** workspace) {
    if (workspace != nullptr) *workspace = nullptr;
    return guarded([&] {
        require(model, "model");
        require(workspace, "workspace");
        *workspace = new pibinn_workspace(*model);
    });
}

void pibinn_workspace_free(pibinn_workspace* workspace) { delete workspace; }
