#pragma once

namespace pibinn {

/// Seconds from some moment on, to take differences of on one thread. Within a task of a ThreadPool
/// all work stays on this thread, and its processor's time is told: what else runs on the machine
/// does not count. Elsewhere other threads may help, and it is the time of a watch.
double work_seconds();

}  // namespace pibinn
