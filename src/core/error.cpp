#include "pibinn/error.hpp"

#include <utility>

namespace pibinn {

Error::Error(ErrorKind kind, std::string message, std::string hint)
    : std::runtime_error(hint.empty() ? message : message + "; " + hint),
      kind_(kind),
      message_(std::move(message)),
      hint_(std::move(hint)) {}

void fail_usage(std::string message, std::string hint) {
    throw Error(ErrorKind::usage, std::move(message), std::move(hint));
}

void fail_input(std::string message, std::string hint) {
    throw Error(ErrorKind::input, std::move(message), std::move(hint));
}

void fail_io(std::string message, std::string hint) {
    throw Error(ErrorKind::io, std::move(message), std::move(hint));
}

}  // namespace pibinn
