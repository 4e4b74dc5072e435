// room: infer
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/matrix.hpp"
#include "pibinn/model.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// Names of kernels that this machine has, the one that `auto` stands for first: an instruction
/// set, which chooses its fastest kernel for each block, or KERNEL/INSTRUCTION SET.
std::vector<std::string> packed_kernels();

/// Whether a network can be packed: unrolled, and of a kind that stores signs, or tied to an
/// operator whose columns have entries of one magnitude each.
bool can_be_packed(const Model& model);

/// A model as bits in the order in which this machine's kernels read them, a few kilobytes. It
/// recovers coefficients: the entries of x in the model's basis; `Recoverer` gives signals.
/// Immutable: any number of threads may recover with one at a time, each with a workspace of its
/// own. A row's result depends on the row, the model and the instruction set alone: neither on the
/// rows beside it, nor on the batch, nor on the number of threads.
class PackedModel {
public:
    /// Memory for the numbers of one recovery at a time. Made once, used again and again.
    class Workspace {
    public:
        explicit Workspace(const PackedModel& model);

    private:
        friend class PackedModel;
        AlignedBuffer<float> floats_;
    };

    /// Throws a usage error for networks that cannot be packed and kernels that are not there.
    explicit PackedModel(const Model& model, std::string_view kernel = "auto");
    ~PackedModel();
    PackedModel(PackedModel&&) noexcept;
    PackedModel& operator=(PackedModel&&) noexcept;

    std::size_t measurements() const;
    std::size_t entries() const;
    std::size_t layers() const;
    /// Of signs, scalars and operator. Each other worker of a pool keeps a copy of a model of 48
    /// KiB to 2 MiB.
    std::size_t bytes() const;
    const std::string& kernel() const;
    /// The most that one layer adds to the error against float64, relative to its largest entry.
    /// Networks that amplify errors amplify these too, and where an entry stands at its threshold,
    /// hard thresholds and the Onsager term's count may jump.
    static constexpr double kRelativeError = 1e-6;

    /// The coefficients of one signal, or of a few rows, on the caller's thread and without
    /// allocation. Values are not looked at: what is not a number, or overflows, comes out as such
    /// (`require_recovered` finds it). Throws a usage error for an `x` or a workspace that does not
    /// fit.
    void recover_coefficients(std::span<const float> y, std::span<float> x,
                              Workspace& workspace) const;
    void recover_coefficients(ConstBatchView y, BatchView x, Workspace& workspace) const;
    /// A batch over all threads, into the caller's memory. Where the network is repeated, neither
    /// batch may have gaps between its rows.
    void recover_coefficients(ConstBatchView y, BatchView x, ThreadPool& pool) const;
    /// The same into memory of its own; with `every_layer`, x_1 .. x_K too.
    Batch recover_coefficients(ConstBatchView y, ThreadPool& pool,
                               std::vector<Batch>* every_layer = nullptr) const;

private:
    struct State;
    void recover_rows(ConstBatchView y, BatchView x, ThreadPool& pool, float* every_layer) const;
    std::unique_ptr<const State> state_;
};

}  // namespace pibinn
