#include "pibinn/packed_model.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "infer/kernel_choice.hpp"
#include "infer/pack.hpp"
#include "infer/part_copies.hpp"
#include "model/weights/weight_rules.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

struct PackedModel::State {
    KernelChoice choice;
    PartCopies copies;
    std::size_t repeat = 1;
    std::size_t m = 0;  ///< of one repetition
    std::size_t n = 0;
    std::size_t workspace = 0;
    std::size_t turn = 1;  ///< rows that the kernels take at a time

    State(const Model& model, std::string_view kernel);
    void recover_rows(const std::vector<PackedPart>& parts, ConstBatchView y, BatchView x,
                      float* every_layer, std::size_t layer_stride, float* workspace_floats) const;
};

namespace {

void require_width(std::size_t given, std::size_t expected) {
    if (given != expected)
        fail_input(fmt::format("expected {} measurements per row, got {}", expected, given),
                   "give measurements made by this model's operator");
}

/// Rows that one task of a batch takes: many tasks a thread, so that no thread waits long for
/// another whose core is shared, in whole turns of the kernels where one is for all parts, and not
/// so few rows that a task's workspace counts. Results do not depend on it.
std::size_t rows_per_task(std::size_t rows, std::size_t threads, std::size_t turn) {
    const std::size_t share = (rows + 32 * threads - 1) / (32 * threads);
    return std::clamp<std::size_t>((share + turn - 1) / turn * turn, kTile / turn * turn,
                                   64 * kTile / turn * turn);
}

}  // namespace

bool can_be_packed(const NetworkSpec& spec) {
    return spec.architecture == Architecture::unrolled && rules_of(spec.weights).sign_planes() > 0;
}

std::vector<std::string> packed_kernels() { return kernel_choices(); }

PackedModel::State::State(const Model& model, std::string_view kernel)
    : choice(choose_kernel(kernel)),
      copies(pack_parts(model, choice.layout())),
      repeat(model.op.structure().repeat()),
      m(model.op.rows() / repeat),
      n(model.op.cols() / repeat) {
    for (const PackedPart& part : copies.parts()) {
        workspace = std::max(workspace, choice.workspace_floats(part));
        turn = std::max(turn, choice.turn(part));
    }
}

PackedModel::Workspace::Workspace(const PackedModel& model) : floats_(model.state_->workspace) {}

PackedModel::PackedModel(const Model& model, std::string_view kernel) {
    if (!can_be_packed(model.spec))
        fail_usage(fmt::format("a model of {} {} weights cannot be packed",
                               to_string(model.spec.architecture), to_string(model.spec.weights)),
                   "pack an unrolled model of one-bit or ternary weights");
    state_ = std::make_unique<const State>(model, kernel);
}

PackedModel::~PackedModel() = default;
PackedModel::PackedModel(PackedModel&&) noexcept = default;
PackedModel& PackedModel::operator=(PackedModel&&) noexcept = default;

std::size_t PackedModel::measurements() const { return state_->m * state_->repeat; }
std::size_t PackedModel::entries() const { return state_->n * state_->repeat; }
std::size_t PackedModel::layers() const { return state_->copies.parts()[0].layers.size(); }
const std::string& PackedModel::kernel() const { return state_->choice.name; }
double PackedModel::relative_error() const {
    return state_->choice.way == Way::vector16 ? 1e-3 : 1e-6;
}

std::size_t PackedModel::bytes() const { return state_->copies.bytes(); }

void PackedModel::State::recover_rows(const std::vector<PackedPart>& parts, ConstBatchView y,
                                      BatchView x, float* every_layer, std::size_t layer_stride,
                                      float* floats) const {
    for (const PackedPart& part : parts)
        for (std::size_t begin = 0; begin < y.rows;) {
            const auto [kernel, rows] = choice.step(part, y.rows - begin);
            kernel({part, y.data + begin * y.stride + part.row, y.stride,
                    x.data + begin * x.stride + part.col, x.stride, rows,
                    every_layer == nullptr ? nullptr : every_layer + begin * x.stride + part.col,
                    layer_stride, floats});
            begin += rows;
        }
}

void PackedModel::recover(std::span<const float> y, std::span<float> x,
                          Workspace& workspace) const {
    recover(ConstBatchView(y.data(), 1, y.size()), BatchView(x.data(), 1, x.size()), workspace);
}

void PackedModel::recover(ConstBatchView y, BatchView x, Workspace& workspace) const {
    require_width(y.cols, measurements());
    ensure(x.rows == y.rows && x.cols == entries(), "signals that do not fit the measurements");
    ensure(workspace.floats_.size() >= state_->workspace, "a workspace of another model");
    for (std::size_t i = 0; i < y.rows; ++i)
        if (state_->repeat == 1) {
            state_->recover_rows(state_->copies.parts(), y, x, nullptr, 0,
                                 workspace.floats_.data());
            return;
        } else {
            // The repetitions of one row are rows of their own.
            state_->recover_rows(
                state_->copies.parts(), {y.row(i).data(), state_->repeat, state_->m},
                {x.row(i).data(), state_->repeat, state_->n}, nullptr, 0, workspace.floats_.data());
        }
}

void PackedModel::recover_rows(ConstBatchView y, BatchView x, ThreadPool& pool,
                               float* every_layer) const {
    require_width(y.cols, measurements());
    ensure(x.rows == y.rows && x.cols == entries(), "signals that do not fit the measurements");
    const std::size_t repeat = state_->repeat;
    ensure(repeat == 1 || (y.contiguous() && x.contiguous()),
           "a repeated network needs batches without gaps");
    // The repetitions of one row are rows of their own.
    const ConstBatchView in(y.data, y.rows * repeat, state_->m, repeat == 1 ? y.stride : state_->m);
    const BatchView out(x.data, y.rows * repeat, state_->n, repeat == 1 ? x.stride : state_->n);
    pool.run_chunks(in.rows, rows_per_task(in.rows, pool.threads(), state_->turn),
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                        AlignedBuffer<float> floats(state_->workspace);
                        state_->recover_rows(
                            state_->copies.parts_of(ThreadPool::worker()), in.row_range(begin, end),
                            out.row_range(begin, end),
                            every_layer == nullptr ? nullptr : every_layer + begin * state_->n,
                            x.rows * x.cols, floats.data());
                    });
}

void PackedModel::recover(ConstBatchView y, BatchView x, ThreadPool& pool) const {
    recover_rows(y, x, pool, nullptr);
}

Batch PackedModel::recover(ConstBatchView y, ThreadPool& pool,
                           std::vector<Batch>* every_layer) const {
    Batch x(y.rows, entries());
    AlignedBuffer<float> layers(every_layer == nullptr ? 0 : x.size() * this->layers());
    recover_rows(y, x, pool, layers.empty() ? nullptr : layers.data());
    if (every_layer != nullptr) {
        every_layer->assign(this->layers(), Batch(x.rows(), x.cols()));
        for (std::size_t k = 0; k < this->layers(); ++k)
            std::copy_n(layers.begin() + static_cast<std::ptrdiff_t>(k * x.size()), x.size(),
                        (*every_layer)[k].data());
    }
    return x;
}

}  // namespace pibinn
