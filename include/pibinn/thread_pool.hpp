// room: core
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace pibinn {

/// A fixed set of workers. Work is cut into chunks whose borders the caller sets: where they depend
/// only on the amount of work, results (sums included, when they are added in chunk order) are the
/// same bytes for any thread count.
class ThreadPool {
public:
    /// `threads` workers in all, the caller among them; 0 means one per core.
    explicit ThreadPool(std::size_t threads = 0);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::size_t threads() const;
    /// Which worker of its pool the calling thread is, from 1 on; 0 on threads of no pool, as those
    /// that call run() most often are.
    static std::size_t worker();

    /// Calls task(i) once for every i in [0, count), in any order and on any worker. The first
    /// exception thrown by a task is thrown again here, after the running ones have ended.
    /// A task that itself calls run() runs the inner tasks on its own thread.
    void run(std::size_t count, const std::function<void(std::size_t)>& task);

    /// Cuts [0, count) into chunks of `chunk` (the last may be shorter) and calls
    /// task(chunk index, begin, end) for each.
    void run_chunks(std::size_t count, std::size_t chunk,
                    const std::function<void(std::size_t, std::size_t, std::size_t)>& task);

    /// The sum of partial(begin, end) over the chunks, added in chunk order.
    double sum_chunks(std::size_t count, std::size_t chunk,
                      const std::function<double(std::size_t, std::size_t)>& partial);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace pibinn
