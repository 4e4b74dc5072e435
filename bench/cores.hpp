#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

#include "pibinn/thread_pool.hpp"

namespace pibinn::bench {

/// The cores that this thread may run on. The destructor lets it run on all of them again.
class Cores {
public:
    Cores();
    ~Cores();
    Cores(const Cores&) = delete;
    Cores& operator=(const Cores&) = delete;

    std::size_t count() const { return allowed_.size(); }
    /// Keeps this thread on one of them.
    void stay_on(std::size_t core) const;
    /// Lets it run where it ran before: on all of them, or on its own where threads are spread.
    void go_back() const;
    /// Keeps every thread of a pool on a core of its own, where there are enough. The scheduler was
    /// seen to leave two threads on one core for a second while the other core was idle.
    void spread(ThreadPool& pool);

private:
    cpu_set_t before_;
    bool spread_ = false;
    std::vector<int> allowed_;
};

}  // namespace pibinn::bench
