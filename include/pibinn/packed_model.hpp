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

/// Names that `--kernel` takes on this machine, the one that `auto` stands for first: an
/// instruction set, which chooses the way that is fastest, or WAY/INSTRUCTION SET. `vector16`
/// trades digits for speed and is never chosen unasked.
std::vector<std::string> packed_kernels();

/// Whether a network can be packed: unrolled, and of a kind that stores signs.
bool can_be_packed(const NetworkSpec& spec);

/// A model as bits in the order in which this machine's kernels read them, a few kilobytes.
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
    /// Of signs, scalars and operator. Other workers of a pool that recover with a model of 48 KiB
    /// to 2 MiB keep a copy of it each.
    std::size_t bytes() const;
    const std::string& kernel() const;
    /// What one layer adds to the error against float64, relative to its largest entry: 1e-6, or
    /// 1e-3 for tables of 16 bits. Networks that amplify errors amplify these too, and where
    /// an entry stands at its threshold, hard thresholds and the Onsager term's count may jump.
    double relative_error() const;

    /// One signal, or a few rows, on the caller's thread and without allocation.
    void recover(std::span<const float> y, std::span<float> x, Workspace& workspace) const;
    void recover(ConstBatchView y, BatchView x, Workspace& workspace) const;
    /// A batch over all threads, into the caller's memory; both without gaps between rows where the
    /// network is repeated.
    void recover(ConstBatchView y, BatchView x, ThreadPool& pool) const;
    /// The same into memory of its own; with `every_layer`, x_1 .. x_K too.
    Batch recover(ConstBatchView y, ThreadPool& pool,
                  std::vector<Batch>* every_layer = nullptr) const;

private:
    struct State;
    void recover_rows(ConstBatchView y, BatchView x, ThreadPool& pool, float* every_layer) const;
    std::unique_ptr<const State> state_;
};

}  // namespace pibinn
