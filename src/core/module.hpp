#pragma once

#include <string>

namespace pibinn {

/// A part of the library that is a file of its own and is loaded when it is asked for, so that
/// library and program need nothing of what it is linked with.
struct Module {
    void* handle = nullptr;
    std::string problem;  ///< why there is none; empty where no such file was found

    /// The address of that name; null where it has none.
    void* entry(const char* name) const;
};

/// Loads `file` from beside the program or the library or from the folder above, where a build has
/// it, or from `lib` beside `bin`, where an installation has it. Its function `version_entry` must
/// name our own version. `global` lets what it is linked with see its own libraries, as plugins of
/// MPI need.
Module load_module(const char* file, const char* version_entry, bool global = false);

}  // namespace pibinn
