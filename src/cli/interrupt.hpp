#pragma once

#include <array>
#include <csignal>

namespace pibinn::cli {

/// While it lives, Ctrl-C, SIGTERM and SIGHUP only raise a flag, so that long work can be saved
/// first. A second Ctrl-C or SIGTERM ends the program at once, as usual. A second SIGHUP does not:
/// a terminal that closes may send several.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    bool raised() const;

private:
    std::array<struct sigaction, 3> before_;
};

/// Whether the Interrupt that lives now, or the last one, was raised.
bool interrupt_raised();

/// From now on the program leaves no half-written file when a signal ends it, and it still dies of
/// that signal, as a shell expects. A limit on the size of files is an error of the write instead.
void remove_temporaries_when_stopped();

}  // namespace pibinn::cli
