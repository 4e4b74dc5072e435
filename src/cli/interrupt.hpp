#pragma once

#include <csignal>

namespace pibinn::cli {

/// While it lives, Ctrl-C and SIGTERM only raise a flag, so that long work can be saved first. A
/// second one ends the program at once, as usual.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    bool raised() const;

private:
    struct sigaction interrupt_before_;
    struct sigaction terminate_before_;
};

}  // namespace pibinn::cli
