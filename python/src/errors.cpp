#include <exception>
#include <filesystem>
#include <new>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "pibinn/error.hpp"

namespace pibinn::python {

namespace nb = nanobind;

namespace {

const char* name_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::usage:
            return "UsageError";
        case ErrorKind::input:
            return "InputError";
        case ErrorKind::io:
            return "FileError";
        case ErrorKind::failed:
            return "FailedError";
        case ErrorKind::internal:
            break;
    }
    return "InternalError";
}

/// The classes are written in Python, where their words are fitted to its names too.
void raise(const char* name, const std::string& message, const std::string& hint) {
    const nb::object type = nb::module_::import_("pibinn._errors").attr(name);
    const nb::object error = type.attr("of_library")(message, hint);
    PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        raise(name_of(error.kind()), error.message(), error.hint());
    } catch (const std::bad_alloc&) {
        raise("OutOfMemoryError", "memory does not suffice for what was asked for",
              "give smaller sizes, or blocks of the rows one after the other");
    } catch (const std::filesystem::filesystem_error& error) {
        raise("FileError", error.what(), "check the path and its permissions");
    }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate, nullptr); }

}  // namespace pibinn::python
