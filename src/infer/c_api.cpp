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
    /// For batches of up to so many rows at a time.
    pibinn_workspace(const pibinn_model& owner, std::size_t rows) : model_number(owner.number) {
        const pibinn::Recoverer& recoverer = owner.recoverer;
        if (recoverer.packed() != nullptr) packed.emplace(*recoverer.packed());
        if (!recoverer.domain().measurement_rows().complex) return;
        y = pibinn::Batch(std::min(rows, kSplitRows), recoverer.measurements());
        x = pibinn::Batch(y.rows(), recoverer.entries());
    }

    /// Complex rows are split so many at a time: four tiles of signals side by side.
    static constexpr std::size_t kSplitRows = 64;

    std::uint64_t model_number;
    std::optional<pibinn::PackedModel::Workspace> packed;
    pibinn::Batch y, x;  ///< split rows; empty where numbers are real
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

/// Rows as everything inside has them; errors call the first one `first_row`.
void recover_split(const pibinn::Recoverer& recoverer, pibinn_workspace& workspace,
                   ConstBatchView y, BatchView x, std::size_t first_row) {
    if (workspace.packed && recoverer.domain().plain()) {
        pibinn::require_numbers(y, first_row);
        recoverer.packed()->recover_coefficients(y, x, *workspace.packed);
        pibinn::require_recovered(x, first_row);
        return;
    }
    pibinn::ThreadPool caller(1);
    const pibinn::Batch found =
        recoverer.signals(recoverer.coefficients(y, caller, nullptr, first_row), caller, first_row);
    std::copy_n(found.data(), found.size(), x.data);
}

void recover(const pibinn_model& model, pibinn_workspace& workspace, const float* y_rows,
             std::size_t rows, float* x_rows) {
    if (rows == 0) return;
    require(y_rows, "y");
    require(x_rows, "x");
    const pibinn::Recoverer& recoverer = model.recoverer;
    const ConstBatchView y(y_rows, rows, recoverer.measurements());
    const BatchView x(x_rows, rows, recoverer.entries());
    const pibinn::SignalDomain& domain = recoverer.domain();
    if (!domain.measurement_rows().complex) return recover_split(recoverer, workspace, y, x, 0);
    pibinn::require_numbers(y);  // names the caller's columns
    for (std::size_t begin = 0; begin < rows; begin += workspace.y.rows()) {
        const std::size_t end = std::min(rows, begin + workspace.y.rows());
        const BatchView y_split = workspace.y.view().row_range(0, end - begin);
        pibinn::split_complex(y.row_range(begin, end), y_split, domain.vectors);
        if (!domain.complex) {
            recover_split(recoverer, workspace, y_split, x.row_range(begin, end), begin);
            continue;
        }
        const BatchView x_split = workspace.x.view().row_range(0, end - begin);
        recover_split(recoverer, workspace, y_split, x_split, begin);
        pibinn::interleave_complex(x_split, x.row_range(begin, end), domain.vectors);
    }
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

int pibinn_complex_measurements(const pibinn_model* model) {
    return model != nullptr && model->recoverer.domain().measurement_rows().complex ? 1 : 0;
}

int pibinn_complex_entries(const pibinn_model* model) {
    return model != nullptr && model->recoverer.domain().complex ? 1 : 0;
}

pibinn_status pibinn_recover(const pibinn_model* model, const float* y, size_t rows, float* x) {
    return guarded([&] {
        require(model, "model");
        pibinn_workspace workspace(*model, rows);
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
        *workspace = new pibinn_workspace(*model, pibinn_workspace::kSplitRows);
    });
}

void pibinn_workspace_free(pibinn_workspace* workspace) { delete workspace; }
