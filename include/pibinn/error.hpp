// room: core
#pragma once

#include <stdexcept>
#include <string>

namespace pibinn {

enum class ErrorKind {
    usage,    ///< the caller asked for something that does not exist or does not fit together
    input,    ///< the data or the file given is wrong
    io,       ///< the system refused a file operation
    failed,   ///< the work itself failed (training diverged, for one)
    internal  ///< a bug in pibinn
};

/// Every error the library throws. `message` carries the offending values, `hint` says what to do
/// next; `what()` joins them as "MESSAGE; HINT".
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, std::string message, std::string hint = {});

    ErrorKind kind() const noexcept { return kind_; }
    const std::string& message() const noexcept { return message_; }
    const std::string& hint() const noexcept { return hint_; }

private:
    ErrorKind kind_;
    std::string message_;
    std::string hint_;
};

[[noreturn]] void fail_usage(std::string message, std::string hint = {});
[[noreturn]] void fail_input(std::string message, std::string hint = {});
[[noreturn]] void fail_io(std::string message, std::string hint = {});

/// States what must hold inside the library; a violation is a bug of ours, not of the user.
inline void ensure(bool holds, const char* what) {
    if (!holds) throw Error(ErrorKind::internal, what, "please report this as a bug");
}

}  // namespace pibinn
