#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

#include "pibinn/thread_pool.hpp"

namespace pibinn::cli {

/// The cores that this thread may run on. It may go back to all of them at the end of this.
class Cores {
public:
    Cores();
    ~Cores();
    Cores(const Cores&) = delete;
    Cores& operator=(const Cores&) = delete;

    std::size_t count() const { return allowed_.size(); }
    /// Keeps this thread on one of them.
    void stay_on(std::size_t core) const;
    /// Lets it go back to where it was: to all of them, or to its own where threads are spread.
    void go_back() const;
    /// Keeps every thread of a pool on a core of its own, where there are enough. Left alone, two
    /// threads were seen to share one core for a second while the other stood idle.
    void spread(ThreadPool& pool);

private:
    cpu_set_t before_;
    bool spread_ = false;
    std::vector<int> allowed_;
};

}  // namespace pibinn::cli
