#pragma once

#include <functional>

#include <nanobind/nanobind.h>

#include "pibinn/progress.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::python {

/// Runs long work on a thread of its own, without the interpreter's lock. The caller's thread looks
/// after signals and calls `progress(task, done, total, detail, note)` a few times per second, or
/// nobody where it is None. Ctrl-C, and whatever `progress` raises, asks the work to stop at its
/// next safe point and is raised once it has.
void run_stoppable(const nanobind::object& progress,
                   const std::function<void(const ProgressSink&)>& work);

/// The pool of this process with so many threads, 0 for one per core: kept, since making one costs
/// more than recovering a small batch. A forked child gets its own.
ThreadPool& shared_pool(std::size_t threads);

}  // namespace pibinn::python
