#include "cli/interrupt.hpp"

#include <atomic>

#include "core/temporary_file.hpp"

namespace pibinn::cli {

namespace {

constexpr std::array kSavedFirst{SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> raised_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch such a flag");

/// Told to stop, the program leaves no half-written file and dies of the signal.
void stop(int signal) {
    remove_temporaries();
    std::raise(signal);
}

void raise_flag(int) { raised_flag = true; }

struct sigaction action_of(void (*handler)(int), int flags) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    return action;
}

/// Within `stop` the signal is its deadly self again, and not held back until the end.
struct sigaction deadly() {
    return action_of(stop, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}

/// The first one raises the flag and makes the second one deadly.
void raise_flag_once(int signal) {
    raised_flag = true;
    const struct sigaction second = deadly();
    sigaction(signal, &second, nullptr);
}

/// Unless whoever started us wants the signal ignored, as nohup does.
void listen(int signal, const struct sigaction& action, struct sigaction& before) {
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
    raised_flag = false;
    for (std::size_t i = 0; i < kSavedFirst.size(); ++i)
        listen(kSavedFirst[i],
               action_of(kSavedFirst[i] == SIGHUP ? raise_flag : raise_flag_once, SA_RESTART),
               before_[i]);
}

Interrupt::~Interrupt() {
    for (std::size_t i = 0; i < kSavedFirst.size(); ++i)
        sigaction(kSavedFirst[i], &before_[i], nullptr);
}

bool Interrupt::raised() const { return raised_flag; }

bool interrupt_raised() { return raised_flag; }

void remove_temporaries_when_stopped() {
    struct sigaction before = {};
    for (const int signal :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2})
        listen(signal, deadly(), before);
    // The write fails then, which is reported as that of a full disk is.
    std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace pibinn::cli
