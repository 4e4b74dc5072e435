#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

// The C interface alone: that for C++ is gone from the standard.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace pibinn::mpi {

/// What MPI says of an error, on one line.
std::string reason_of(int code);
/// Throws the `failed` error of a call that did not succeed.
void check(int code, const char* what);

/// What all calls share. MPI is entered by one thread at a time, and never to wait there: who waits
/// asks again and again, so that others may enter in between and a signal is heard.
class Calls {
public:
    std::mutex& mutex() { return mutex_; }
    void while_waiting(std::function<void()> call);
    /// Whether it is complete.
    bool test(MPI_Request& request);
    void wait(MPI_Request& request);

private:
    friend class Patience;
    std::mutex mutex_;
    std::mutex call_mutex_;
    std::function<void()> call_;
};

/// How one wait goes: it watches closely for a while, since most answers come at once, and then
/// leaves the core to others.
class Patience {
public:
    explicit Patience(Calls& calls) : calls_(calls) {}
    void pause();

private:
    using Clock = std::chrono::steady_clock;
    Calls& calls_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point called_ = start_;
    int looks_ = 0;
};

}  // namespace pibinn::mpi
