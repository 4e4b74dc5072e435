#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pibinn/matrix.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::bench {

/// Our own contender: the packed model, or the floating-point network of a model that cannot be
/// packed.
class OurRecovery {
public:
    /// A usage error for a kernel that is not there, and for any but "auto" without packed bits.
    OurRecovery(const Model& model, const std::string& kernel);

    bool packed() const { return recoverer_.packed() != nullptr; }
    const std::string& kernel() const { return kernel_; }

    Batch recover(ConstBatchView y, ThreadPool& pool) const;
    /// Into memory that is there already; the floating-point network still allocates its own.
    void recover_into(ConstBatchView y, BatchView x, ThreadPool& pool) const;
    /// A call that recovers row i of `y` alone on the caller's thread; `y` and this must outlive
    /// it.
    std::function<void(std::size_t)> single_call(const Batch& y) const;

private:
    Recoverer recoverer_;
    std::string kernel_;
};

/// The same network in floating point, whatever its structure: what a packed model is compared with
/// where no other peer can run it. Made ready once, then used by one caller at a time.
class FloatRecovery {
public:
    explicit FloatRecovery(const Model& model);
    ~FloatRecovery();

    Batch recover(ConstBatchView y, ThreadPool& pool);
    std::function<void(std::size_t)> single_call(const Batch& y);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace pibinn::bench
