#include "pibinn/packed_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "algebra/activate.hpp"
#include "infer/block_copies.hpp"
#include "infer/kernel_choice.hpp"
#include "infer/pack.hpp"
#include "model/model_parameters.hpp"
#include "model/network_sites.hpp"
#include "model/weights/weight_rules.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

struct PackedModel::State {
    KernelChoice choice;
    BlockCopies copies;
    std::size_t repeat = 1;
    std::size_t m = 0;  ///< of one repetition
    std::size_t n = 0;
    std::size_t workspace = 0;
    std::size_t polish_at = 0;       ///< in the workspace, behind what the kernels need
    std::size_t rows_at_a_time = 1;  ///< by the kernels

    State(const Model& model, std::string_view kernel);
    void recover_rows(const std::vector<PackedBlock>& blocks, ConstBatchView y, BatchView x,
                      float* every_layer, std::size_t layer_stride, float* workspace_floats) const;
    void polish_rows(const RecoverArgs& args) const;
};

namespace {

void require_measurements(std::size_t given, std::size_t expected) {
    if (given != expected)
        fail_input(fmt::format("expected {} measurements per row, got {}", expected, given),
                   "give measurements made by this model's operator");
}

void require_room(const BatchView& x, std::size_t rows, std::size_t entries) {
    if (x.rows != rows || x.cols != entries)
        fail_usage(fmt::format("expected room for {} x {} coefficients, got {} x {}", rows, entries,
                               x.rows, x.cols),
                   "give one row per row of measurements, as long as the model has entries");
}

/// Kernels hold sums and differences of pairs of entries, less the means of columns where residuals
/// are centred. One that overflows would make NaN of the zero beside which it stands, in rows that
/// it is no business of.
void require_sums(std::span<const float> entries, bool centred) {
    const float most = std::numeric_limits<float>::max() / (centred ? 4 : 2);
    for (std::size_t l = 0; l < entries.size(); ++l)
        if (!(std::abs(entries[l]) <= most))
            fail_input(fmt::format("the operator has {} at link {}, over {}", entries[l], l, most),
                       "scale the operator down: in these units float32 overflows");
}

/// The repetitions of a row become rows of their own, which a gap would not allow.
void require_no_gaps(std::size_t stride, std::size_t cols, const char* what) {
    if (stride != cols)
        fail_usage(
            fmt::format("the {} of a repeated network have {} numbers per row and a stride of "
                        "{}",
                        what, cols, stride),
            "give batches without gaps between rows");
}

/// Rows that one task of a batch takes: many tasks per thread, so that no thread waits long for
/// another whose core is shared, a multiple of what the kernels take at a time, and not so few rows
/// that a task's workspace counts. Results do not depend on it.
std::size_t rows_per_task(std::size_t rows, std::size_t threads, std::size_t at_a_time) {
    const std::size_t share = (rows + 32 * threads - 1) / (32 * threads);
    const auto whole = [&](std::size_t count) { return count / at_a_time * at_a_time; };
    return std::clamp(whole(share + at_a_time - 1), whole(kTile), whole(64 * kTile));
}

/// Rows that are shrunk together.
std::size_t group_rows(const Model& model) {
    return model.spec.entrywise() ? 1 : sites_of(model.spec, model.op.structure()).grouping.rows;
}

/// Kernels take whole groups of rows.
bool groups_can_be_packed(const Model& model) {
    const std::size_t rows = group_rows(model);
    return rows == 1 || (rows <= kMostGroupRows && choose_kernel("auto").takes_groups_of_rows());
}

KernelChoice choose_kernel_for(const Model& model, std::string_view name) {
    KernelChoice choice = choose_kernel(name);
    if (const std::size_t rows = group_rows(model); rows > 1 && !choice.takes_groups_of_rows())
        fail_usage(fmt::format("kernel '{}' shrinks rows one by one, and this model {} together",
                               choice.name, rows),
                   "use kernel 'auto' or one of 'vector/...'");
    return choice;
}

}  // namespace

bool can_be_packed(const Model& model) {
    const NetworkSpec& spec = model.spec;
    const bool signs =
        spec.tied() ? ties_to_signs(model) : rules_of(spec.weights).sign_planes() > 0;
    return spec.architecture == Architecture::unrolled && signs &&
           (spec.entrywise() ? rules_of(spec.activation).homogeneous : groups_can_be_packed(model));
}

std::vector<std::string> packed_kernels() { return kernel_choices(); }

PackedModel::State::State(const Model& model, std::string_view kernel)
    : choice(choose_kernel_for(model, kernel)),
      copies(pack_blocks(model, choice.set.layout)),
      repeat(model.op.structure().repeat()),
      m(model.op.rows() / repeat),
      n(model.op.cols() / repeat) {
    std::size_t polish_floats = 0;
    for (const PackedBlock& block : copies.blocks()) {
        polish_at = std::max(polish_at, (choice.workspace_floats(block) + 15) / 16 * 16);
        polish_floats = std::max(polish_floats, polish_workspace_floats(block));
        rows_at_a_time = std::max(rows_at_a_time, choice.rows_at_a_time(block));
    }
    workspace = polish_at + polish_floats;
}

PackedModel::Workspace::Workspace(const PackedModel& model) : floats_(model.state_->workspace) {}

PackedModel::PackedModel(const Model& model, std::string_view kernel) {
    if (!can_be_packed(model))
        fail_usage(fmt::format("a model of {} {} weights cannot be packed",
                               to_string(model.spec.architecture), to_string(model.spec.weights)),
                   "pack an unrolled model of one-bit or ternary weights, or one tied to an "
                   "operator of signs");
    require_fitting(model);
    require_sums(model.op.values(), model.spec.centre);
    state_ = std::make_unique<const State>(model, kernel);
}

PackedModel::~PackedModel() = default;
PackedModel::PackedModel(PackedModel&&) noexcept = default;
PackedModel& PackedModel::operator=(PackedModel&&) noexcept = default;

std::size_t PackedModel::measurements() const { return state_->m * state_->repeat; }
std::size_t PackedModel::entries() const { return state_->n * state_->repeat; }
std::size_t PackedModel::layers() const { return state_->copies.blocks()[0].layers.size(); }
const std::string& PackedModel::kernel() const { return state_->choice.name; }

std::size_t PackedModel::bytes() const { return state_->copies.bytes(); }

void PackedModel::State::recover_rows(const std::vector<PackedBlock>& blocks, ConstBatchView y,
                                      BatchView x, float* every_layer, std::size_t layer_stride,
                                      float* floats) const {
    for (const PackedBlock& block : blocks)
        for (std::size_t begin = 0; begin < y.rows;) {
            const auto [kernel, rows] = choice.step(block, y.rows - begin);
            float* const layers =
                every_layer == nullptr ? nullptr : every_layer + begin * x.stride + block.col;
            const RecoverArgs args{block,    y.data + begin * y.stride + block.row,
                                   y.stride, x.data + begin * x.stride + block.col,
                                   x.stride, rows,
                                   layers,   layer_stride,
                                   floats};
            kernel(args);
            if (block.polish > 0) polish_rows(args);
            begin += rows;
        }
}

/// The last layer is told as polished, too.
void PackedModel::State::polish_rows(const RecoverArgs& args) const {
    RecoverArgs own = args;
    own.workspace += polish_at;
    choice.set.polish(own);
    if (args.every_layer == nullptr) return;
    float* const last = args.every_layer + (args.block.layers.size() - 1) * args.layer_stride;
    for (std::size_t i = 0; i < args.rows; ++i)
        std::copy_n(args.x + i * args.x_stride, args.block.n, last + i * args.x_stride);
}

void PackedModel::recover_coefficients(std::span<const float> y, std::span<float> x,
                                       Workspace& workspace) const {
    recover_coefficients(ConstBatchView(y.data(), 1, y.size()), BatchView(x.data(), 1, x.size()),
                         workspace);
}

void PackedModel::recover_coefficients(ConstBatchView y, BatchView x, Workspace& workspace) const {
    require_measurements(y.cols, measurements());
    require_room(x, y.rows, entries());
    if (workspace.floats_.size() < state_->workspace)
        fail_usage(fmt::format("the workspace holds {} floats, and this model needs {}",
                               workspace.floats_.size(), state_->workspace),
                   "make the workspace from the model that it is used with");
    float* floats = workspace.floats_.data();
    if (state_->repeat == 1) {
        state_->recover_rows(state_->copies.blocks(), y, x, nullptr, 0, floats);
        return;
    }
    // The repetitions of one row are rows of their own.
    for (std::size_t i = 0; i < y.rows; ++i)
        state_->recover_rows(state_->copies.blocks(), {y.row(i).data(), state_->repeat, state_->m},
                             {x.row(i).data(), state_->repeat, state_->n}, nullptr, 0, floats);
}

void PackedModel::recover_rows(ConstBatchView y, BatchView x, ThreadPool& pool,
                               float* every_layer) const {
    require_measurements(y.cols, measurements());
    require_room(x, y.rows, entries());
    const std::size_t repeat = state_->repeat;
    if (repeat > 1) {
        require_no_gaps(y.stride, y.cols, "measurements");
        require_no_gaps(x.stride, x.cols, "coefficients");
    }
    // The repetitions of one row are rows of their own.
    const ConstBatchView in(y.data, y.rows * repeat, state_->m, repeat == 1 ? y.stride : state_->m);
    const BatchView out(x.data, y.rows * repeat, state_->n, repeat == 1 ? x.stride : state_->n);
    pool.run_chunks(in.rows, rows_per_task(in.rows, pool.threads(), state_->rows_at_a_time),
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                        AlignedBuffer<float> floats(state_->workspace);
                        state_->recover_rows(
                            state_->copies.blocks_of(ThreadPool::worker()),
                            in.row_range(begin, end), out.row_range(begin, end),
                            every_layer == nullptr ? nullptr : every_layer + begin * state_->n,
                            x.rows * x.cols, floats.data());
                    });
}

void PackedModel::recover_coefficients(ConstBatchView y, BatchView x, ThreadPool& pool) const {
    recover_rows(y, x, pool, nullptr);
}

Batch PackedModel::recover_coefficients(ConstBatchView y, ThreadPool& pool,
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
