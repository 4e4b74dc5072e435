// room: infer
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/model.hpp"
#include "pibinn/packed_model.hpp"

namespace pibinn {

class DeviceModel;
class PreparedNetwork;

/// A model ready to recover signals by the best there is: packed where its network can be,
/// otherwise by the floating-point network. Immutable: any number of threads may use one at a time.
/// A row's result depends neither on the rows beside it nor on the number of threads, and it is the
/// same from C, from C++ and from the program. Results are finite numbers: measurements that are
/// not, that are over `kLargestMeasurement`, or that overflow in a network that amplifies them, are
/// input errors that name the row.
///
/// Rows of complex numbers are split, real parts before imaginary parts, as `domain()` says
/// (`SignalDomain::measurement_rows`, `signal_rows`). `split_complex` and `join_complex` make them
/// of std::complex and back; `complex_signals` does both.
class Recoverer {
public:
    /// `kernel` is one of `packed_kernels`, for packed models alone, or `cuda`, or `cuda-half`,
    /// which recovers within 1e-3 what `cuda` does: both run on a CUDA device. A model whose fields
    /// do not fit together is a usage error.
    explicit Recoverer(Model model, std::string_view kernel = "auto");

    /// The signals of every row of y, in the unit of the training signals: pixels or samples where
    /// the model has a basis. On the caller's thread, for small batches and low latency.
    Batch operator()(ConstBatchView y) const;
    /// The same, over all threads of a pool.
    Batch operator()(ConstBatchView y, ThreadPool& pool) const;

    /// The same of a model of complex signals, in and out as std::complex. Models of other signals
    /// are a usage error.
    Matrix<std::complex<float>> complex_signals(MatrixView<const std::complex<float>> y,
                                                ThreadPool& pool) const;

    /// What the network itself gives, x_K of every row: coefficients where the model has a basis.
    /// With `every_layer`, x_1 .. x_K too. Errors call the first row `first_row`.
    Batch coefficients(ConstBatchView y, ThreadPool& pool,
                       std::vector<Batch>* every_layer = nullptr, std::size_t first_row = 0) const;
    /// The signals that such coefficients stand for.
    Batch signals(Batch coefficients, ThreadPool& pool, std::size_t first_row = 0) const;

    /// Floats per row of y, and per row of x; a complex number is two.
    std::size_t measurements() const { return measurements_; }
    std::size_t entries() const { return entries_; }
    const SignalDomain& domain() const { return domain_; }
    /// The packed model, or null where the floating-point network or a device recovers.
    const PackedModel* packed() const { return packed_ ? &*packed_ : nullptr; }
    /// What recovers: a kernel of `packed_kernels`, one of a device, or `float`.
    std::string kernel() const;

private:
    SignalDomain domain_;
    std::size_t measurements_;
    std::size_t entries_;
    std::optional<PackedModel> packed_;
    std::shared_ptr<const PreparedNetwork> floats_;
    std::shared_ptr<const DeviceModel> device_;
};

/// Refuses measurements that hold NaN, infinite or larger values, naming the first; rows count from
/// `first_row`. A complex number of split rows is named by its own column.
void require_numbers(ConstBatchView y, std::size_t first_row = 0, const RowLayout& layout = {});
/// Refuses recovered rows that hold NaN or infinite values, in the same way.
void require_recovered(ConstBatchView x, std::size_t first_row = 0, const RowLayout& layout = {});

}  // namespace pibinn
