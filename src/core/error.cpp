#include "pibinn/error.hpp"

#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/escape.hpp"

namespace pibinn {

namespace {

/// Counts without an exponent, other numbers to the precision of float32.
std::string number_text(double value) {
    constexpr double exact = 9007199254740992.0;  // 2^53: every whole number up to it is a double
    if (std::abs(value) <= exact && value == std::trunc(value))
        return fmt::format("{}", static_cast<long long>(value));
    return fmt::format("{:.9g}", value);
}

}  // namespace

// An error is one line.
Error::Error(ErrorKind kind, std::string message, std::string hint)
    : std::runtime_error(escaped(hint.empty() ? message : message + "; " + hint)),
      kind_(kind),
      message_(escaped(message)),
      hint_(escaped(hint)) {}

void fail_usage(std::string message, std::string hint) {
    throw Error(ErrorKind::usage, std::move(message), std::move(hint));
}

void fail_input(std::string message, std::string hint) {
    throw Error(ErrorKind::input, std::move(message), std::move(hint));
}

void fail_io(std::string message, std::string hint) {
    throw Error(ErrorKind::io, std::move(message), std::move(hint));
}

void fail_ensure(const char* what, CheckedValues values, const char* file, int line) {
    std::string list;
    for (const CheckedValue& v : values)
        list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", v.name, number_text(v.value));
    if (!list.empty()) list = " (" + list + ")";
    const std::string_view path = file;
    const std::size_t slash = path.rfind('/');
    throw Error(ErrorKind::internal,
                fmt::format("internal check failed: {}{} at {}:{}", what, list,
                            path.substr(slash == std::string_view::npos ? 0 : slash + 1), line),
                "please report this as a bug");
}

}  // namespace pibinn
