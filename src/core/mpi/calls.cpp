#include "core/mpi/calls.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include <sched.h>

#include "pibinn/error.hpp"

namespace pibinn::mpi {

namespace {

// A message between two processes of one machine takes a microsecond; with more ranks than cores
// the other rank has to run first.
constexpr int kCloseLooks = 50;
constexpr auto kWatched = std::chrono::microseconds(500);
constexpr auto kNap = std::chrono::microseconds(50);
constexpr auto kBetweenCalls = std::chrono::milliseconds(100);

}  // namespace

std::string reason_of(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    const std::string all(text.data(), static_cast<std::size_t>(length));
    // MPICH goes on with the calls that led there, one per line.
    return all.substr(0, std::min(all.find(", error stack:"), all.find('\n')));
}

void check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    throw Error(ErrorKind::failed, std::string("MPI: cannot ") + what + ": " + reason_of(code),
                "see whether all hosts of the job are up");
}

void Calls::while_waiting(std::function<void()> call) {
    const std::lock_guard lock(call_mutex_);
    call_ = std::move(call);
}

bool Calls::test(MPI_Request& request) {
    const std::lock_guard lock(mutex_);
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "hear from another rank");
    return done != 0;
}

void Calls::wait(MPI_Request& request) {
    Patience patience(*this);
    while (!test(request)) patience.pause();
}

void Patience::pause() {
    if (++looks_ < kCloseLooks) return;
    const auto now = Clock::now();
    if (now - start_ < kWatched) {
        sched_yield();
        return;
    }
    if (now - called_ >= kBetweenCalls) {
        called_ = now;
        const std::lock_guard lock(calls_.call_mutex_);
        if (calls_.call_) calls_.call_();
    }
    std::this_thread::sleep_for(kNap);
}

}  // namespace pibinn::mpi
