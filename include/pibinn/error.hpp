// room: core
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace pibinn {

enum class ErrorKind {
    usage,    ///< the caller asked for something that does not exist or does not fit together
    input,    ///< the data or the file given is wrong
    io,       ///< the system refused a file operation
    failed,   ///< the work itself failed (training diverged, for example)
    internal  ///< a bug in pibinn
};

/// Every error the library throws. `message` carries the offending values, `hint` says what to do
/// next; `what()` joins them as "MESSAGE; HINT". Hints name the fields of the public API, such as
/// `PatchSpec::side`; a program that has other names for them translates (study/field_keys.hpp).
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

/// A number that a failed check reports, with its name.
struct CheckedValue {
    template <class T>
    requires(std::is_arithmetic_v<T>) CheckedValue(const char* called, T number)
        : name(called), value(static_cast<double>(number)) {}

    const char* name;
    double value;
};

using CheckedValues = std::initializer_list<CheckedValue>;

/// Throws the error of a failed `ensure`.
[[noreturn]] void fail_ensure(const char* what, CheckedValues values, const char* file, int line);

/// States what must hold inside the library. A violation is a bug of pibinn, not of its caller. The
/// error names the place of the call and the values given:
///     ensure(begin <= rows, "rows within the array", {{"begin", begin}, {"rows", rows}});
/// The place comes from builtins, since clang 14 has no std::source_location.
inline void ensure(bool holds, const char* what, CheckedValues values = {},
                   const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!holds) fail_ensure(what, values, file, line);
}

}  // namespace pibinn
