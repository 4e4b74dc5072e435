#include "bench/cores.hpp"

#include <atomic>
#include <thread>

namespace pibinn::bench {

Cores::Cores() {
    CPU_ZERO(&before_);
    sched_getaffinity(0, sizeof before_, &before_);
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &before_)) allowed_.push_back(core);
}

Cores::~Cores() { sched_setaffinity(0, sizeof before_, &before_); }

void Cores::go_back() const {
    if (spread_)
        stay_on(ThreadPool::worker());
    else
        sched_setaffinity(0, sizeof before_, &before_);
}

void Cores::stay_on(std::size_t core) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(allowed_[core], &one);
    sched_setaffinity(0, sizeof one, &one);
}

void Cores::spread(ThreadPool& pool) {
    spread_ = pool.threads() <= allowed_.size();
    if (!spread_) return;
    std::atomic<std::size_t> here{0};
    pool.run(pool.threads(), [&](std::size_t) {
        ++here;
        while (here < pool.threads()) std::this_thread::yield();  // so each thread has one task
        stay_on(ThreadPool::worker());
    });
}

}  // namespace pibinn::bench
