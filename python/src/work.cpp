#include "work.hpp"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <nanobind/stl/string.h>

namespace pibinn::python {

namespace nb = nanobind;

namespace {

/// The last thing that the work told, for the thread that may talk to Python.
struct Event {
    std::string task, detail;
    std::uint64_t done = 0, total = 0;
};

class Watched {
public:
    explicit Watched(const std::function<void(const ProgressSink&)>& work)
        : thread_([this, &work] { run(work); }) {}

    ~Watched() {
        if (!thread_.joinable()) return;
        stop();
        const nb::gil_scoped_release release;
        thread_.join();
    }

    /// Waits a little. Returns whether the work has ended.
    bool wait(std::optional<Event>& event, std::vector<std::string>& notes) {
        const nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        ended_changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return ended_; });
        event.swap(event_);
        notes.swap(notes_);
        return ended_;
    }

    void stop() {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }

    /// Throws what the work threw.
    void join() {
        {
            const nb::gil_scoped_release release;
            thread_.join();
        }
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    void run(const std::function<void(const ProgressSink&)>& work) {
        try {
            work([this](const Progress& progress) { return tell(progress); });
        } catch (...) {
            failure_ = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        ended_ = true;
        ended_changed_.notify_one();
    }

    bool tell(const Progress& progress) {
        const std::lock_guard lock(mutex_);
        event_ = Event{std::string(progress.task), std::string(progress.detail), progress.done,
                       progress.total};
        if (!progress.note.empty()) notes_.emplace_back(progress.note);
        return !stop_;
    }

    std::mutex mutex_;
    std::condition_variable ended_changed_;
    std::optional<Event> event_;
    std::vector<std::string> notes_;
    bool stop_ = false;
    bool ended_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  ///< last: it uses all of the above
};

void tell(const nb::object& progress, const std::optional<Event>& event,
          const std::vector<std::string>& notes) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (progress.is_none()) return;
    for (const std::string& note : notes) progress("", 0, 0, "", note);
    if (event) progress(event->task, event->done, event->total, event->detail, "");
}

using Pools = std::map<std::size_t, std::unique_ptr<ThreadPool>>;

struct PoolHouse {
    std::mutex mutex;
    std::unique_ptr<Pools> pools = std::make_unique<Pools>();
};

PoolHouse& pool_house() {
    // Never destroyed: at exit other threads may still recover.
    static auto* house = new PoolHouse;
    return *house;
}

/// The threads of a pool do not follow into a forked child; there its memory is all that is left,
/// and is left alone.
void forget_pools() {
    PoolHouse& house = pool_house();
    (void)house.pools.release();
    house.pools = std::make_unique<Pools>();
    house.mutex.unlock();
}

}  // namespace

void run_stoppable(const nb::object& progress,
                   const std::function<void(const ProgressSink&)>& work) {
    Watched watched(work);
    std::optional<nb::python_error> raised;
    bool ended = false;
    while (!ended) {
        std::optional<Event> event;
        std::vector<std::string> notes;
        ended = watched.wait(event, notes);
        if (raised) continue;
        try {
            tell(progress, event, notes);
        } catch (nb::python_error& error) {
            raised.emplace(std::move(error));
            watched.stop();
        }
    }
    try {
        watched.join();
    } catch (...) {
        if (!raised) throw;  // otherwise what stopped it comes first
    }
    if (raised) throw std::move(*raised);
}

ThreadPool& shared_pool(std::size_t threads) {
    PoolHouse& house = pool_house();
    static const int handlers = pthread_atfork([] { pool_house().mutex.lock(); },
                                               [] { pool_house().mutex.unlock(); }, forget_pools);
    (void)handlers;
    const std::lock_guard lock(house.mutex);
    std::unique_ptr<ThreadPool>& pool = (*house.pools)[threads];
    if (!pool) pool = std::make_unique<ThreadPool>(threads);
    return *pool;
}

}  // namespace pibinn::python
