#include "cli/interrupt.hpp"

#include <atomic>

namespace pibinn::cli {

namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch such a flag");

void raise_flag(int) { flag = true; }

void listen(int signal, struct sigaction& before) {
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) return;  // whoever started us wants it ignored
    struct sigaction action = {};
    action.sa_handler = raise_flag;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
    flag = false;
    listen(SIGINT, interrupt_before_);
    listen(SIGTERM, terminate_before_);
}

Interrupt::~Interrupt() {
    sigaction(SIGINT, &interrupt_before_, nullptr);
    sigaction(SIGTERM, &terminate_before_, nullptr);
}

bool Interrupt::raised() const { return flag; }

}  // namespace pibinn::cli
